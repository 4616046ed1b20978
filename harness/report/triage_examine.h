// One stored case as triage sees it: run, diagnosed, and its pictures' series taken. All of it depends on the
// case, the kernel, the device and this program alone, so it can be kept.
#pragma once

#include "harness/base/error.h"
#include "harness/report/triage.h"
#include "harness/run/replay.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// What is wrong with the case now.
struct ExaminedFinding {
  Signature signature;
  std::string message;
  double severity = 0;
};

struct Examined {
  std::optional<ExaminedFinding> finding; // none: it passes now
  std::vector<std::string> seen_with;     // signatures that the case shows, its own among them
  std::string kernel, op;
  std::size_t elements = 0; // off the base value
  std::vector<TriageTensor> tensors;
  std::vector<CauseEvidence> suspects, cleared; // likeliest first
  std::string note;
  std::optional<ErrorMap> map; // and the histogram: of the richest case that fails alike
  ErrorHistogram histogram;
  std::vector<ErrorSamplePoint> samples;
};

// wanted: of several findings, the one of this signature leads. Errors: those of reading, loading and
// running.
Result<Examined> examine_case(const Case& test_case, const std::filesystem::path& file,
                              const std::string& wanted, KernelCache& kernels);

std::string examined_json(const Examined& examined);
std::optional<Examined> parse_examined(const std::string& text); // none: it is not that

} // namespace assay
