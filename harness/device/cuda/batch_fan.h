// Launches side by side: a trunk that forks into branches and is joined again. What is launched after a fork
// waits for all that was joined before it; within a branch one launch waits for the other. One fan queues
// launches on streams, another puts them into a graph.
#pragma once

#include "harness/device/cuda/driver.h"
#include "harness/device/cuda/work.h"

#include <span>
#include <vector>

namespace assay::cuda {

class Fan {
 public:
  virtual ~Fan() = default;
  virtual unsigned width() const = 0;         // the most branches
  virtual Status fork(unsigned branches) = 0; // at least one; before the first launch, and after a join
  virtual Status launch(unsigned branch, const KernelLaunch& launch) = 0;
  virtual Status join() = 0; // each branch has had a launch

  // On the trunk.
  Status launch_alone(const KernelLaunch& alone) {
    Status status = fork(1);
    if (status == success) status = launch(0, alone);
    return status == success ? join() : status;
  }
};

// The streams and events of a lane. They live as long as their process.
struct Streams {
  void* trunk = nullptr;
  std::vector<void*> branches;
  void* forked = nullptr; // events
  std::vector<void*> joined;

  Status create(const Driver& driver, unsigned branches);
};

class StreamFan final : public Fan {
 public:
  StreamFan(const Driver& driver, const Streams& streams) : driver_(driver), streams_(streams) {}
  unsigned width() const override { return static_cast<unsigned>(streams_.branches.size()); }
  Status fork(unsigned branches) override;
  Status launch(unsigned branch, const KernelLaunch& launch) override;
  Status join() override;

 private:
  const Driver& driver_;
  const Streams& streams_;
  unsigned forked_ = 0; // branches; 1 is the trunk itself
};

class GraphFan final : public Fan {
 public:
  GraphFan(const Driver& driver, unsigned width)
      : driver_(driver), graph_(driver.destroy_graph), width_(width) {}
  Status create() { return driver_.graph_create(graph_.out(), 0); }
  unsigned width() const override { return width_; }
  Status fork(unsigned branches) override;
  Status launch(unsigned branch, const KernelLaunch& launch) override;
  Status join() override;
  void* graph() const { return graph_.get(); }

 private:
  const Driver& driver_;
  Handle graph_;
  unsigned width_;
  std::vector<void*> trunk_;    // what a fork waits for
  std::vector<void*> branches_; // the last launch of each; null: none yet
};

Status launch_on(const Driver& driver, const KernelLaunch& launch, void* stream);

} // namespace assay::cuda
