// From a folder of stored cases to what triage prints: every case is run, those that fail are diagnosed and
// grouped into faults.
#pragma once

#include "harness/base/error.h"
#include "harness/device/device.h"
#include "harness/report/triage.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace assay {

struct TriageOptions {
  std::string program = "assay";                                // how the commands that are printed begin
  std::string device;                                           // its name, for the report
  std::function<Result<std::unique_ptr<Device>>()> open_device; // called in processes of its own
  unsigned jobs = 1;                                            // such processes at a time
  std::filesystem::path cache_dir; // of what an earlier triage found out (triage_cache.h); empty: none
};

using TriageProgress = std::function<void(std::size_t done, std::size_t planned)>;

// folder: a campaign's output (findings with their hits), a corpus, or one finding's folder. Findings are the
// cases that were stored as such or that expect to fail, and whatever else fails now; cases that expect to
// pass, and do, are no findings. A case that cannot be read or run is told in `unread`. No *.case file at
// all: a user error.
// It forks: the caller has no other thread.
Result<TriageReport> collect_triage(const std::filesystem::path& folder, const TriageOptions& options,
                                    const TriageProgress& progress = {});

// Groups of findings that one fault explains, by index, each led by what explains the others. Two belong
// together where they are of one kernel and pass and
// - the likeliest suspect of both is the same (a wrong gradient: and so is the output), or
// - they were seen on one and the same input, and one of them is of memory, a race or a barrier, or both are
// of the
//   same output.
struct GroupingFinding {
  Signature signature;
  double severity = 0;
  std::optional<Cause> likeliest;
  std::vector<std::string> seen_with; // signatures that its case shows too
};
std::vector<std::vector<std::size_t>> group_findings(std::span<const GroupingFinding> findings);

} // namespace assay
