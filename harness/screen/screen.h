// The three-way comparison of thousands of neighbouring cases on the device itself. A sieve, never a judge:
// of each case it says that it is plainly clean, or why not, and whatever is not is for the host to judge
// (run/judge.h; recheck.h says how much of it).
#pragma once

#include "harness/compile/compile_cache.h"
#include "harness/device/batch.h"
#include "harness/run/kernel.h"
#include "harness/screen/burst.h"
#include "harness/screen/burst_batch.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

struct ScreenOptions {
  std::filesystem::path cache_dir = default_cache_dir();
  std::uint64_t wave_bytes = std::uint64_t{5} << 29; // of the device; a few waves are under way at once
  std::uint32_t wave_cases = 128; // the graph of a wave is soon made, and a few waves fill a GPU
};

struct BurstRequest {
  std::uint64_t seed = 0;   // of the neighbours
  double seconds = 0.05;    // about so long; at least one wave
  std::uint64_t most = ~0u; // neighbours
  bool timed = false;       // one wave at a time, and each step timed
};

class Screen {
 public:
  // Null: the kernel's device runs no batches. Environment error: no NVRTC. `kernel` must outlive the screen.
  static Result<std::unique_ptr<Screen>> create(Kernel& kernel, const ScreenOptions& options = {});

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

  explicit Screen(Kernel& kernel) : kernel_(kernel) {}
  Result<const Judge*> judge(Pass pass, DType dtype);
  Result<Opened> open(const Case& test_case);
  std::vector<ScreenedCase> screened(const Opened& opened, const BatchOutcome& outcome) const;

  Kernel& kernel_;
  BatchDevice* device_ = nullptr;
  ScreenOptions options_;
  std::shared_ptr<Program> fill_;
  std::map<std::pair<Pass, DType>, Result<Judge>> judges_;
  std::array<double, 64> seconds_a_case_{}; // by the slot's size in bits, as measured last; 0: not yet
};

} // namespace assay
