//! launch grid=1 block=128 words=128
//! arch compute_80 compute_90
//! expect i < 64 ? 2016 : 6112
// A tile of two warps meets in shared memory that the system reserves.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void test(unsigned* out) {
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  out[threadIdx.x] = cg::reduce(tile, threadIdx.x, cg::plus<unsigned>());
}
