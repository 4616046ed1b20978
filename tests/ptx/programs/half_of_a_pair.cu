//! launch grid=1 block=32 words=32
//! expect i
// A pair is loaded whole although only its first half was written, and only that one is used.
#include <cuda_fp16.h>
extern "C" __global__ void test(unsigned* out) {
  __shared__ __align__(4) __half values[64];
  values[2 * threadIdx.x] = __float2half((float)threadIdx.x);
  __syncwarp();
  const __half2 pair = *(const __half2*)(values + 2 * threadIdx.x);
  out[threadIdx.x] = (unsigned)__half2float(__low2half(pair));
}
