//! launch grid=2 block=128 words=256
//! arch compute_75 compute_80 compute_90
//! expect (i % 128 + 1) % 128 + (i % 128 + 2) % 128
// cuda::barrier: an mbarrier from compute capability 8.0 on, atomics before.
#include <cuda/barrier>
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  unsigned sum = 0;
  for (unsigned round = 1; round <= 2; ++round) {
    tile[threadIdx.x] = threadIdx.x;
    barrier.arrive_and_wait();
    sum += tile[(threadIdx.x + round) % 128];
    auto token = barrier.arrive();
    barrier.wait(cuda::std::move(token));
  }
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}
