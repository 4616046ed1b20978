//! launch grid=1 block=64 words=64
//! expect (i % 32) * (i % 32 + 1) / 2 + 496
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
extern "C" __global__ void test(unsigned* out) {
  using Scan = cub::WarpScan<unsigned>;
  using Reduce = cub::WarpReduce<unsigned>;
  __shared__ Scan::TempStorage scan[2];
  __shared__ Reduce::TempStorage reduce[2];
  const unsigned warp = threadIdx.x / 32;
  unsigned below = 0;
  Scan(scan[warp]).InclusiveSum(threadIdx.x % 32, below);
  const unsigned sum = Reduce(reduce[warp]).Sum(threadIdx.x % 32);
  out[threadIdx.x] = below + __shfl_sync(0xffffffffu, sum, 0);
}
