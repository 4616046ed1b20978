//! launch grid=2 block=64 words=128
//! arch compute_80 compute_90
//! fault uninitialized fault_unwritten_copy.cu:23 read what a cp.async had yet to bring
//! expect i * 3
// A pipeline of two stages that lets one group too many stay under way: what it reads has not arrived.
#include <cuda_pipeline.h>
__device__ unsigned source[4][128];
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned stage[2][64];
  const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
  for (int k = 0; k < 4; ++k) source[k][i] = k < 3 ? i : 0;
  __pipeline_memcpy_async(&stage[0][t], &source[0][i], 4);
  __pipeline_commit();
  unsigned sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (k < 3) __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &source[k + 1][i], 4);
    __pipeline_commit();
#ifdef RIGHT
    __pipeline_wait_prior(1);
#else
    __pipeline_wait_prior(2);
#endif
    sum += stage[k % 2][t];
  }
  out[i] = sum;
}
