//! launch grid=1 block=64 words=64 budget=100000
//! arch compute_80 compute_90
//! fault timeout executed more than
#include <cuda/barrier>
extern "C" __global__ void test(unsigned* out) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x + 1);
  __syncthreads();
  barrier.arrive_and_wait();
  out[threadIdx.x] = 1;
}
