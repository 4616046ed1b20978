// The three-way comparison of thousands of neighbouring cases on the device itself. A sieve, never a judge:
// of each case it says that it is plainly clean, or why not, and whatever is not is for the host to judge
// (run/judge.h; recheck.h says how much of it).
#pragma once

#include "harness/base/background_process.h"
#include "harness/compile/compile_cache.h"
#include "harness/device/batch.h"
#include "harness/run/kernel.h"
#include "harness/screen/burst.h"
#include "harness/screen/burst_batch.h"
#include "harness/screen/source.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct ScreenOptions {
  std::filesystem::path cache_dir = default_cache_dir();
  std::uint64_t wave_bytes = std::uint64_t{1} << 32; // of the device; a few waves are under way at once
  std::uint32_t wave_cases = 192;       // the graph of a wave is soon made, and a few waves fill a GPU
  std::uint32_t large_wave_cases = 264; // where one case keeps many threads busy: two a multiprocessor
  bool ahead = false; // programs are compiled by a child of this process while ready() says no
};

struct BurstRequest {
  std::uint64_t seed = 0;   // of the neighbours
  double seconds = 0.05;    // about so long; at least one wave
  std::uint64_t most = ~0u; // neighbours
  bool timed = false;       // one wave at a time, and each step timed
};

class Screen {
 public:
  // Null: the kernel's device runs no batches. `kernel` must outlive the screen.
  static std::unique_ptr<Screen> create(Kernel& kernel, const ScreenOptions& options = {});

  // False: the programs for cases of this pass and type are being compiled; a burst would wait for them. To
  // be asked often: it is by this that the next ones are begun with.
  bool ready(Pass pass, DType dtype);

  // Runs the case and its neighbours. parent: legal, and one that Kernel::plan takes. User error: cases of
  // this plan cannot be screened, and why. Environment error: the device's.
  Result<Burst> burst(const Case& parent, const CaseSpace& space, const BurstRequest& request);

  // Whether the launches of these neighbours come to an end.
  Result<bool> survives(const Burst& burst, std::uint64_t first, std::uint64_t count);

  // The very case, so many times over; its own inputs cannot be filled: a user error.
  Result<std::vector<ScreenedCase>> repeat(const Case& test_case, std::uint32_t count);

 private:
  struct Judge {
    std::shared_ptr<Program> program;
    PtxSource source;
  };
  // What a plan's cases are filled and judged by; the device has it open.
  struct Opened {
    SlotLayout layout;
    BurstBatch batch;
    JudgeFacts facts;
    std::vector<std::size_t> inputs; // of each filled tensor its place in Case::inputs
  };

  using Kind = std::pair<Pass, DType>;

  explicit Screen(Kernel& kernel) : kernel_(kernel) {}
  Judging judging(const Kind& kind) const;
  Result<Judge> make_judge(const Kind& kind);
  Result<const Judge*> judge(const Kind& kind);
  Result<Opened> open(const Case& test_case);
  std::vector<ScreenedCase> screened(const Opened& opened, const BatchOutcome& outcome) const;

  Kernel& kernel_;
  BatchDevice* device_ = nullptr;
  ScreenOptions options_;
  std::shared_ptr<Program> fill_;
  std::map<Kind, Result<Judge>> judges_;
  std::string arch_; // that programs are compiled for
  BackgroundProcess ahead_;
  std::optional<Kind> compiling_;           // by that process
  std::set<Kind> compiled_;                 // by it, and not loaded yet
  std::array<double, 64> seconds_a_case_{}; // by the slot's size in bits, as measured last; 0: not yet
};

} // namespace assay
