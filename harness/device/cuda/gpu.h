// A GPU with its compiled programs, over processes that may end (server_process.h): what was loaded is loaded
// anew when it is next needed. Knows no buffers; the arenas' bytes lie in memory().
#pragma once

#include "harness/device/cuda/batch_order.h"
#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/program.h"
#include "harness/device/cuda/server_process.h"
#include "harness/device/launch_limits.h"

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

namespace assay::cuda {

class Gpu {
 public:
  Gpu(const Driver& driver, const CudaOptions& options)
      : options_(options), server_(driver, options.ordinal, memory_), watchdog_(options.watchdog) {}

  // Environment error: no such GPU.
  Result<void> open();
  void stop() { server_.stop(); }
  bool running() const { return server_.running(); }
  unsigned starts() const { return starts_; } // of processes so far: what an older one held is gone
  std::string name() const;
  std::string machine() const; // "sm_90"
  LaunchLimits limits() const;
  const SharedMemory& memory() const { return memory_; }

  Result<std::shared_ptr<CudaProgram>> load(const PtxSource& source);
  // Gives the program its counting copy; one that does not compile goes on without.
  Result<void> count_blocks(CudaProgram& program);
  // The program's module in each of the worlds. Variables keep what launches left in them: `fresh` brings
  // back what the program gives them.
  Result<void> ensure_module(CudaProgram& program, bool fresh, std::span<const std::uint32_t> worlds);

  // The modules that it needs must be there. Nothing: the time is up.
  Result<std::optional<Reply>> run(std::span<const WorldRun> runs, std::size_t arena_bytes);
  // The same of the first world alone. seconds: of each repeat, where the reply is done.
  Result<std::optional<Reply>> time(const WorkRequest& work, std::vector<double>& seconds);
  // Afterwards the memory of the worlds holds what the first replay left, and the second.
  Result<std::optional<Reply>> replay_graph(const WorkRequest& work);
  Result<double> copy_bandwidth(); // bytes read and written a second
  // The modules that its steps need must be there. Stage::memory: no room for one wave.
  Result<Reply> open_batch(const BatchOrder& order, std::span<const std::byte> common);
  // Begins to run as many cases of the batch opened last. Nothing else may be asked before end_batch().
  void begin_batch(std::size_t cases, bool timed);
  struct BatchEnd {
    Answered answered = Answered::yes;
    Reply reply;
    std::vector<double> step_seconds;
    std::chrono::milliseconds limit{};
  };
  BatchEnd end_batch();
  const std::string& last_words() const { return server_.last_words(); }
  std::chrono::milliseconds watchdog() const { return watchdog_; }
  void be_impatient() { watchdog_ = options_.watchdog_again; } // a launch has been found to hang

 private:
  struct Compiled {
    std::string cubin;
    bool from_cache = false;
  };
  Result<void> ensure_server();
  Result<std::string> ask(const Writer& request, std::chrono::milliseconds limit);
  Result<std::optional<Reply>> ask_kernel(const Writer& request, std::string& answer);
  Result<std::string> compile(const PtxSource& source);
  Result<Compiled> compile_cached(const PtxSource& source, bool read_cache);
  Result<Reply> load_module(const CudaProgram& program, std::uint32_t world,
                            std::vector<FunctionFacts>* facts);

  CudaOptions options_;
  SharedMemory memory_;
  ServerProcess server_;
  unsigned starts_ = 0;
  GpuFacts facts_;
  std::chrono::milliseconds watchdog_;
  bool batch_begun_ = false;
  std::chrono::milliseconds batch_limit_{};
  std::chrono::steady_clock::time_point batch_deadline_;
  std::unordered_map<std::string, std::shared_ptr<CudaProgram>> programs_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> loaded_; // (program, world) that the process holds
};

} // namespace assay::cuda
