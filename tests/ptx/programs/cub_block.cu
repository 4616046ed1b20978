//! launch grid=1 block=128 words=128
//! arch compute_80 compute_90
//! expect i + i * (i + 1) / 2 + 8128
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
extern "C" __global__ void test(unsigned* out) {
  using Sort = cub::BlockRadixSort<unsigned, 128, 1>;
  using Scan = cub::BlockScan<unsigned, 128>;
  using Reduce = cub::BlockReduce<unsigned, 128>;
  __shared__ union {
    Sort::TempStorage sort;
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
  } memory;
  __shared__ unsigned total;
  unsigned key[1] = {(threadIdx.x * 37 + 5) % 128};
  Sort(memory.sort).Sort(key);
  __syncthreads();
  unsigned below = 0;
  Scan(memory.scan).InclusiveSum(key[0], below);
  __syncthreads();
  const unsigned sum = Reduce(memory.reduce).Sum(key[0]);
  if (threadIdx.x == 0) total = sum;
  __syncthreads();
  out[threadIdx.x] = key[0] + below + total;
}
