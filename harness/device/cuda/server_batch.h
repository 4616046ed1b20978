// Batches (harness/device/batch.h) in the process that drives the GPU: waves in turn over a few lanes, each a
// stream with memory of its own, so that one wave's inputs are made while another's kernels run.
#pragma once

#include "harness/device/cuda/batch_fan.h"
#include "harness/device/cuda/batch_order.h"
#include "harness/device/cuda/patterns.h"
#include "harness/device/cuda/protocol.h"

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace assay::cuda {

// The kernel that fills shared memory with a word.
struct SharedDirt {
  KernelLaunch launch; // parameters: bytes, word
  std::uint32_t bytes = 0;
};

class BatchRunner {
 public:
  BatchRunner(const Driver& driver, const SharedMemory& memory) : driver_(driver), memory_(memory) {}

  struct Function {
    void* handle = nullptr; // may take the step's shared memory
    bool shared = false;    // uses any
  };
  // functions: of each step. The common bytes lie at the start of the staging memory. Stage::memory: not even
  // one lane has room.
  Reply open(BatchOrder order, std::vector<Function> functions, const SharedDirt& dirt);
  // What is given lies in the staging memory, where the results go too (staging_layout). seconds: of each
  // step, where `timed`.
  Reply run(std::size_t cases, bool timed, std::vector<double>& seconds);

 private:
  struct Group { // steps [first, last): one, or consecutive ones that run case by case
    std::size_t first = 0, last = 0;
    bool chains = false, shared = false;
  };
  struct Wave {
    std::size_t first = 0; // case
    std::uint32_t cases = 0, twins = 0;
    bool graph = false; // is it worth one
  };
  using Groups = std::pair<std::size_t, std::size_t>; // [first, last)
  // A graph with the shape of what it was made of: batches that differ in all but that use it again.
  struct KeptGraph {
    explicit KeptGraph(const Driver& driver) : graph(driver) {}
    LaunchGraph graph;
    bool refused = false;     // none could be made
    std::uint64_t opened = 0; // of the batch whose launches it holds
  };
  using Shape = std::vector<std::uint64_t>;
  using KeptGraphs = std::map<std::pair<Groups, Shape>, KeptGraph>; // of a lane
  struct Lane {
    Address base = 0;
    std::size_t waves = 0; // whole ones so far, of this batch
  };
  struct Stopwatch;

  Reply failed(Stage stage, Status status) const { return {stage, status, error_text(driver_, status)}; }
  Reply reserve();
  Status pin(std::size_t bytes);
  void** parameters(const OrderedStep& step, const Lane& lane, const Wave& wave, std::size_t slot);
  KernelLaunch shape(std::size_t step) const;
  Status queue_wave(std::size_t lane, const Wave& wave, const StagingLayout& staging, Stopwatch* watch);
  Status queue_groups(std::size_t lane, const Wave& wave, const Groups& groups);
  void* graph_of(std::size_t lane, const Wave& wave, const Groups& groups);
  Status make(KeptGraph& kept, const Lane& lane, const Wave& wave, const Groups& groups);
  Shape shape_of(const Wave& wave, const Groups& groups) const;
  Status launch_groups(Fan& fan, const Lane& lane, const Wave& wave, const Groups& groups);
  Status launch_single(Fan& fan, const Lane& lane, const Wave& wave, std::size_t step);
  Status launch_chains(Fan& fan, const Lane& lane, const Wave& wave, const Group& group);
  Status launch_dirt(Fan& fan, Pattern pattern);

  const Driver& driver_;
  const SharedMemory& memory_;
  BatchOrder order_;
  std::vector<Function> functions_;
  std::vector<Group> groups_;
  SharedDirt dirt_;
  LaneLayout layout_;
  std::vector<Lane> lanes_;
  std::vector<Streams> streams_;   // of lanes; kept from batch to batch
  std::vector<KeptGraphs> graphs_; // likewise
  std::uint64_t opened_ = 0;       // how many batches
  Address memory_base_ = 0;        // the common bytes, then the lanes
  std::size_t capacity_ = 0, pinned_ = 0;
  std::vector<std::uint64_t> values_; // of a launch's parameters
  std::vector<void*> pointers_;
};

} // namespace assay::cuda
