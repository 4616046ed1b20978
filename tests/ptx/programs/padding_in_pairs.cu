//! launch grid=1 block=32 words=32
//! arch compute_80 compute_90
//! expect 2 * (i + 1) * 8
//! fault uninitialized out[0] of out
// A tile of pairs whose last column is padding that nobody writes: the sums of pairs and what is packed from
// them are undefined in their upper half, and that half is not used. The faulty one adds both halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void test(unsigned* out) {
  __shared__ __align__(4) __half tile[32][16];
  __shared__ __align__(4) __nv_bfloat16 sums[32][2];
  for (int pair = 0; pair < 8; ++pair) tile[threadIdx.x][2 * pair] = __float2half((float)(threadIdx.x + 1));
  __syncwarp();
  __half2 sum = __float2half2_rn(0.0f);
  for (int pair = 0; pair < 8; ++pair) {
    const __half2 two = *(const __half2*)&tile[threadIdx.x][2 * pair];
    sum = __hfma2(two, __float2half2_rn(2.0f), sum);
  }
  const __nv_bfloat162 rounded = __floats2bfloat162_rn(__low2float(sum), __high2float(sum));
  *(__nv_bfloat162*)sums[threadIdx.x] = rounded; // the padding is copied
  __syncwarp();
  const unsigned bits = *(const unsigned*)sums[threadIdx.x];
  float result = __uint_as_float(bits << 16); // the lower one, as compilers widen it
#ifndef RIGHT
  result += __uint_as_float(bits & 0xffff0000u);
#endif
  out[threadIdx.x] = (unsigned)result;
}
