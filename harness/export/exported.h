// One case as it ran, to be written down for people without Assay.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/run/judge.h"
#include "harness/run/kernel.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct Exported {
  const Kernel& kernel;
  const Case& test_case;
  const Judgement& judgement; // of the case; its trial has tensors unless the device stopped early
};

// Each gives the whole file. Errors: user errors, where the case or the kernel does not suit the format (too
// large for a source text, an MLIR kernel); environment errors of reading the kernel's source.

// nvcc -std=c++17 FILE.cu && ./a.out: exit 1 where the wrong element is wrong there too, 0 where it is right.
Result<std::string> cuda_program(const Exported& exported);
// python3 FILE.py: exit 1 where the recorded target is off from torch in float64 by more than the threshold.
Result<std::string> python_script(const Exported& exported);
// Arrays by name: inputs as they are, sizes and parameters as numbers; for the record the case's text, and
// golden_NAME, reference_NAME and target_NAME of each output as float64 (which holds every value of theirs).
Result<std::string> npz_arrays(const Exported& exported);
// Whether an array of that name is there for the record alone: who runs the kernel on them needs it not.
bool is_record(std::string_view array, const OpInfo& info);

// --- for the writers ---

// "softmax_naive-forward-y-gate: y[0,2] = ...", or that nothing is wrong: one line.
std::string title_of(const Exported& exported);
// The case's text, each line behind `prefix`.
std::string case_comment(const Exported& exported, std::string_view prefix);
// A source with the includes that are found beside it or along `dirs` put in place, each once.
Result<std::string> with_includes_in_place(const std::filesystem::path& source,
                                           const std::vector<std::filesystem::path>& dirs);

// Equal neighbours as one: `count` elements of these bits.
struct BitRun {
  std::int64_t count = 0;
  std::uint64_t bits = 0;
};
std::vector<BitRun> bit_runs(const Tensor& tensor);
// More elements than this in one case: a user error.
inline constexpr std::int64_t most_exported_elements = std::int64_t{1} << 20;
Result<void> check_size(const Exported& exported);

} // namespace assay
