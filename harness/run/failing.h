// Cases that fail alike: what suspects are tested on. A minimized case has few elements, on which much agrees
// by chance, so richer ones of the same kernel are sought that show the same output wrong.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/case.h"
#include "harness/run/kernel.h"
#include "harness/run/trial.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {

// One case and its output `trial.tensors[output]`, which is wrong (or right, where that is said).
struct FailingTrial {
  Case test_case;
  Trial trial;
  std::size_t output = 0;

  const TensorReport& report() const { return trial.tensors[output]; }
};

// The product of the dims: about what one evaluation of the formula costs.
double work_of(std::span<const std::pair<std::string, std::int64_t>> dims);
// What is evaluated, or run, a few hundred times has no more.
inline constexpr double little_work = 1 << 16;

// The case with wrong numbers in the output of that name, judged on this input alone (no redraws); nullopt
// where there are none, or where the case cannot run on this kernel.
std::optional<FailingTrial> try_failing(Kernel& kernel, const Case& test_case, const std::string& output);

// The same of a case whose output is right; nullopt where it is wrong or cannot run.
std::optional<FailingTrial> try_right(Kernel& kernel, const Case& test_case, const std::string& output);

// The case at other dims and with N(0, 1) (or legal values) in every input: from its own sizes to production
// ones, within a share of the budgets, and no patches, overrides or layouts; N(0, 64^2) among them, which
// takes exponentials of what is not shifted beyond their range; then with a large offset in its first input,
// and with its own distributions.
std::vector<Case> richer_cases(const Kernel& kernel, const Case& test_case);

// The same values at other dims: what the new shape cuts off is dropped. nullopt where it is not legal.
std::optional<Case> resized(const Kernel& kernel, const Case& test_case, const std::string& dim,
                            std::int64_t size);

// Every input at its usual distribution.
Case with_usual_inputs(const Kernel& kernel, Case test_case);

// Sizes at which the kernel's work is cut: the manifest's tiles, its block sizes, a warp and vectors;
// ascending.
std::vector<std::int64_t> tile_sizes(const Kernel& kernel, const Plan& plan);

} // namespace assay
