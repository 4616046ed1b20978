// Launches side by side: a trunk that forks into branches and is joined again. What is launched after a fork
// waits for all that was joined before it; within a branch one launch waits for the other. One fan queues
// launches on streams, one makes a graph of them, one puts them in the place of those that a graph has.
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

struct LaunchGraph {
  explicit LaunchGraph(const Driver& driver)
      : graph(driver.destroy_graph), executable(driver.destroy_executable) {}

  Handle graph, executable;
  std::vector<void*> nodes; // in the order in which they were launched
};

class GraphFan final : public Fan {
 public:
  GraphFan(const Driver& driver, unsigned width, LaunchGraph& into)
      : driver_(driver), width_(width), into_(into) {}
  Status create() { return driver_.graph_create(into_.graph.out(), 0); }
  unsigned width() const override { return width_; }
  Status fork(unsigned branches) override;
  Status launch(unsigned branch, const KernelLaunch& launch) override;
  Status join() override;
  // Once all is launched.
  Status finish() { return driver_.instantiate(into_.executable.out(), into_.graph.get(), 0); }

 private:
  const Driver& driver_;
  unsigned width_;
  LaunchGraph& into_;
  std::vector<void*> trunk_;    // what a fork waits for
  std::vector<void*> branches_; // the last launch of each; null: none yet
};

// The launches must fork and join as those did that the graph was made of.
class GraphUpdate final : public Fan {
 public:
  GraphUpdate(const Driver& driver, unsigned width, const LaunchGraph& graph)
      : driver_(driver), width_(width), graph_(graph) {}
  unsigned width() const override { return width_; }
  Status fork(unsigned) override { return success; }
  Status launch(unsigned, const KernelLaunch& launch) override {
    return driver_.graph_set_kernel(graph_.executable.get(), graph_.nodes.at(next_++), &launch);
  }
  Status join() override { return success; }

 private:
  const Driver& driver_;
  unsigned width_;
  const LaunchGraph& graph_;
  std::size_t next_ = 0;
};

Status launch_on(const Driver& driver, const KernelLaunch& launch, void* stream);

} // namespace assay::cuda
