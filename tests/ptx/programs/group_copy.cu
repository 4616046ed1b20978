//! launch grid=1 block=64 words=64
//! expect 63 - i
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
__device__ unsigned source[64];
extern "C" __global__ void test(unsigned* out) {
  namespace cg = cooperative_groups;
  const cg::thread_block block = cg::this_thread_block();
  __shared__ unsigned tile[64];
  source[threadIdx.x] = threadIdx.x;
  block.sync();
  cg::memcpy_async(block, tile, source, sizeof(tile));
  cg::wait(block);
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
