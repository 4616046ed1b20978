// A case's launches as a CUDA graph.
#pragma once

#include "harness/device/cuda/work.h"

#include <array>
#include <cstddef>

namespace assay::cuda {

// Captures what a launcher queues, the clears and the launches, as a graph and replays it twice, the second
// time on what the first has left. `left`: where the first `bytes` of the arena go after each. The arena
// must have been brought to the GPU; it stays as the second replay left it. Stage::launch: it cannot be
// captured.
Reply replay_twice(const Driver& driver, const Work& work, std::size_t bytes, std::array<std::byte*, 2> left);

} // namespace assay::cuda
