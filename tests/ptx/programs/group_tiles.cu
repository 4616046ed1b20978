//! launch grid=1 block=64 words=64
//! expect 8 * (i / 8 * 8) + 28 + i % 8 + 16
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void test(unsigned* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  unsigned sum = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
  unsigned size = 0;
  if (threadIdx.x % 2 == 0) {
    const cg::coalesced_group here = cg::coalesced_threads();
    size = here.size();
    here.sync();
  } else {
    size = cg::coalesced_threads().size();
  }
  cg::sync(block);
  out[threadIdx.x] = sum + tile.thread_rank() + size;
}
