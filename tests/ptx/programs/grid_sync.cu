//! launch grid=8 block=64 words=512
//! expect 7 - i / 64 + i % 64
#include <cooperative_groups.h>
__device__ unsigned first[8];
extern "C" __global__ void test(unsigned* out) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (threadIdx.x == 0) first[blockIdx.x] = blockIdx.x;
  grid.sync();
  const unsigned seen = first[gridDim.x - 1 - blockIdx.x];
  grid.sync();
  if (threadIdx.x == 0) first[blockIdx.x] = 100;
  grid.sync();
  out[grid.thread_rank()] = seen + threadIdx.x + first[(blockIdx.x + 1) % 8] - 100;
}
