//! launch grid=1 block=64 words=64
//! arch compute_80 compute_90
//! fault race stage
//! expect 63 - i
// Each thread waits for its own copies only: what others copied needs a barrier after their wait, not before
// it.
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
  __syncthreads();
#else
  __syncthreads();
  __pipeline_wait_prior(0);
#endif
  out[t] = stage[63 - t];
}
