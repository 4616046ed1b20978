//! launch grid=2 block=64 words=8
//! arch compute_90
//! expect i == 0 ? 8128 : i == 1 ? 1 : i == 2 ? 127 : i == 3 ? 128 : i == 4 ? 64 : i == 5 ? 128 : i == 6 ? 32 : 128
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__device__ unsigned long long sum64, max64, swapped;
__device__ double sum_double;
__device__ __half2 sum_half2;
__device__ __nv_bfloat162 sum_bf162;
__device__ unsigned done;
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  atomicAdd(&sum64, (unsigned long long)i << 32);
  atomicMax(&max64, (unsigned long long)i << 40);
  atomicAdd(&sum_double, 1.0);
  atomicAdd(&sum_half2, __floats2half2_rn(0.5f, 1.0f));
  atomicAdd(&sum_bf162, __floats2bfloat162_rn(0.25f, 1.0f));
  unsigned long long seen = 0;
  for (;;) {
    const unsigned long long now = atomicCAS(&swapped, seen, seen + 1);
    if (now == seen) break;
    seen = now;
  }
  __threadfence();
  if (atomicInc(&done, 1000) != 127) return;
  __threadfence();
  out[0] = (unsigned)(atomicAdd(&sum64, 0ull) >> 32);
  out[1] = (atomicAdd(&sum64, 0ull) & 0xffffffffu) == 0;
  out[2] = (unsigned)(atomicMax(&max64, 0ull) >> 40);
  out[3] = (unsigned)atomicAdd(&sum_double, 0.0);
  const __half2 h = atomicAdd(&sum_half2, __floats2half2_rn(0.0f, 0.0f));
  out[4] = (unsigned)__half2float(h.x);
  out[5] = (unsigned)__half2float(h.y);
  const __nv_bfloat162 b = atomicAdd(&sum_bf162, __floats2bfloat162_rn(0.0f, 0.0f));
  out[6] = (unsigned)__bfloat162float(b.x);
  out[7] = (unsigned)atomicCAS(&swapped, 0ull, 0ull);
}
