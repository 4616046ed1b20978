// How the launches of a batch are spread over the GPU. The defaults are what was fastest (README.md).
#pragma once

namespace assay::cuda {

struct BatchTuning {
  unsigned lanes = 3;   // waves under way at once, each in memory of its own
  unsigned streams = 8; // of a lane, over which launches that are queued one by one are spread
  unsigned chains = 32; // of a graph: as many cases' launches may run at once
  // Whole waves of a lane that are queued launch by launch before a graph is made; the largest number:
  // always.
  unsigned plain_waves = 1;
};

} // namespace assay::cuda
