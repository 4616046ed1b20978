//! launch grid=1 block=64 words=32
//! arch compute_80 compute_90
//! expect 10 * i + 45
// One warp fills, one warp drains; two mbarriers hand the buffer over.
#include <cuda/barrier>
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> full, empty;
  if (threadIdx.x == 0) {
    init(&full, 64);
    init(&empty, 64);
  }
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (unsigned k = 0; k < 10; ++k) {
      tile[lane] = lane + k;
      (void)full.arrive();
      empty.arrive_and_wait();
    }
  } else {
    unsigned sum = 0;
    for (unsigned k = 0; k < 10; ++k) {
      full.arrive_and_wait();
      sum += tile[lane];
      (void)empty.arrive();
    }
    out[lane] = sum;
  }
}
