//! launch grid=1 block=64 words=64
//! arch compute_75 compute_80 compute_90
//! expect 2 * i + 128
#include <cooperative_groups.h>
#include <cuda/pipeline>
__device__ unsigned source[256];
extern "C" __global__ void test(unsigned* out) {
  namespace cg = cooperative_groups;
  const cg::thread_block block = cg::this_thread_block();
  __shared__ unsigned stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  for (unsigned k = 0; k < 4; ++k) source[64 * k + threadIdx.x] = 64 * k + threadIdx.x;
  __syncthreads();
  auto pipeline = cuda::make_pipeline(block, &state);
  unsigned sum = 0;
  for (unsigned load = 0, use = 0; use < 2; ++use) {
    for (; load < 2 && load < use + 2; ++load) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[load], source + 128 * load, sizeof(unsigned) * 64, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += stage[use][(threadIdx.x + 1) % 64] - (threadIdx.x + 1) % 64 + threadIdx.x;
    pipeline.consumer_release();
  }
  out[threadIdx.x] = sum;
}
