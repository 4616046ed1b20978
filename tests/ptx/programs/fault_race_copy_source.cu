//! launch grid=1 block=64 words=64
//! arch compute_80 compute_90
//! fault race source
//! expect i
// What a copy reads may not change before it has ended: a barrier after its issue is not enough.
#include <cuda_pipeline.h>
__device__ unsigned source[64];
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned stage[64];
  const unsigned t = threadIdx.x;
  source[t] = t;
  __pipeline_memcpy_async(&stage[t], &source[t], 4);
  __pipeline_commit();
#ifdef RIGHT
  __pipeline_wait_prior(0);
#endif
  __syncthreads();
  source[63 - t] = 99;
  __pipeline_wait_prior(0);
  out[t] = stage[t];
}
