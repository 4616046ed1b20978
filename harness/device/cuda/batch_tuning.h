// How the launches of a batch are spread over the GPU. The defaults are what was fastest
// (tests/benchmarks/README.md).
#pragma once

namespace assay::cuda {

struct BatchTuning {
  unsigned lanes = 3;   // waves under way at once, each in memory of its own
  unsigned streams = 4; // of a lane, over which launches that are queued one by one are spread
  unsigned chains = 32; // of a graph: as many cases' launches may run at once
  // Whole waves, those that ran included, that a lane must have before it for a graph to be made: one costs
  // about as much as queuing its launches once.
  unsigned worth_a_graph = 2;
};

} // namespace assay::cuda
