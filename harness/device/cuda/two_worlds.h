// The device itself: every launch in two worlds (arena.h), each part of its work in a file of its own.
#pragma once

#include "harness/device/batch.h"
#include "harness/device/cuda/arena.h"
#include "harness/device/cuda/gpu.h"
#include "harness/device/graph_replay.h"
#include "harness/device/launch_timer.h"
#include "harness/device/whole_case.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace assay::cuda {

// A difference between the worlds is blamed on their memory only where it comes back with each of them this
// often: with a kernel that gives one of two results at random, once in 2^24 differences.
inline constexpr int alternations = 12;

class CudaDevice final : public Device,
                         public WholeCase,
                         public LaunchTimer,
                         public GraphReplay,
                         public BatchDevice {
 public:
  CudaDevice(const Driver& driver, const CudaOptions& options)
      : gpu_(driver, options), tuning_(options.batch) {}

  Result<void> open() { return gpu_.open(); }

  std::string name() const override { return gpu_.name(); }

  Result<std::shared_ptr<Program>> load(const PtxSource& source) override { return gpu_.load(source); }
  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override {
    ASSAY_CHECK(launches_.empty(), "a buffer was made after a launch");
    composed_ = false;
    return arena_.add(spec, dense);
  }
  void fill_zero(BufferId buffer) override {
    ASSAY_CHECK(launches_.empty(), "a buffer was cleared after a launch");
    composed_ = false;
    arena_.fill_zero(buffer);
  }
  void release_all() override {
    arena_.clear();
    const bool heap =
        std::ranges::any_of(launches_, [](const Launched& l) { return l.program->traits.heap; });
    if (heap) gpu_.stop(); // what a kernel has not freed would be missing in the next case
    launches_.clear();
    composed_ = uploaded_ = timed_ = explained_ = lost_ = false;
  }
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override;
  Result<bool> launch_whole(Program& program, std::span<const LaunchSpec> launches) override;
  Result<std::vector<double>> time_launches(Program& program, std::span<const LaunchSpec> launches,
                                            int repeats) override;
  Result<double> copy_bandwidth() override { return gpu_.copy_bandwidth(); }
  Result<Outcome> replay_in_graph(Program& program, std::span<const LaunchSpec> launches) override;
  std::string machine() const override { return gpu_.machine(); }
  Result<void> open_batch(const Batch& batch) override;
  Result<void> submit(std::span<const std::byte> given, std::size_t cases, bool timed) override;
  Result<BatchOutcome> collect() override;
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    compose();
    arena_.read(buffer, bytes_of(0), dense);
    return {};
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    if (!composed_) return {};
    return arena_.unwritten(buffer, bytes_of(0), first_world, bytes_of(1), second_world, limit);
  }
  // Of the program launched last. Blocks are counted from the first time that someone asks.
  Coverage coverage() override {
    counting_ = true;
    return last_ == nullptr ? Coverage{} : Coverage{last_->counters};
  }
  void set_compare_hook(CompareHook) override {}

 private:
  struct Launched {
    CudaProgram* program;
    GpuLaunch launch;
  };

  struct OpenBatch {
    BatchOrder order;
    std::vector<std::byte> common;
    std::vector<std::shared_ptr<Program>> programs;
    unsigned start = 0;    // of the process that knows it
    std::size_t cases = 0; // under way
  };

  static CudaProgram& own(Program& any);
  Result<std::variant<GpuLaunch, std::string>> translate(const CudaProgram& program,
                                                         const LaunchSpec& spec) const;
  Result<std::variant<std::vector<GpuLaunch>, std::string>>
  translate_all(const CudaProgram& program, std::span<const LaunchSpec> specs) const;
  // Nothing: the time is up.
  Result<std::optional<Reply>> advance(CudaProgram& program, const std::vector<GpuLaunch>& launches);
  std::vector<Fault> faults_in_memory() const;
  void compose();
  Result<LaunchReport> fault_of(const std::optional<Reply>& reply, const CudaProgram& program);
  Result<void> explain(const Arena::Element& element, std::vector<Fault>& faults);
  Result<bool> replay(const World& world);
  WorldRun whole_run(std::uint32_t index, const World& world) const;
  void forget_launches(const CudaProgram& program);
  Result<Outcome> compare_graph(CudaProgram& program);
  Result<OrderedStep> ordered(const BatchStep& step, const BatchOrder& order) const;
  Result<void> bring_batch();

  std::byte* bytes_of(std::size_t world) const { return gpu_.memory().world(world); }

  Gpu gpu_;
  BatchTuning tuning_;
  std::optional<OpenBatch> batch_;
  Arena arena_{world_capacity};
  std::vector<Launched> launches_; // since the last release_all
  bool composed_ = false;          // the shared memory holds both worlds
  bool uploaded_ = false;          // the GPU holds them, as the last launch left them
  bool timed_ = false;             // the GPU holds the first world, as timed launches left it
  bool explained_ = false;         // why the worlds differ has been asked already
  bool counting_ = false;          // of blocks
  CudaProgram* last_ = nullptr;    // launched
  bool lost_ = false;              // a fault ended the context and the buffers with it
};

inline std::array<std::uint32_t, 3> narrow(const Dim3& dims) {
  return {static_cast<std::uint32_t>(dims.x), static_cast<std::uint32_t>(dims.y),
          static_cast<std::uint32_t>(dims.z)};
}

inline std::uint32_t dirt_of(const World& world) {
  const std::uint32_t pattern = shared_pattern.of(world.second_shared);
  return pattern << 16 | pattern;
}

} // namespace assay::cuda
