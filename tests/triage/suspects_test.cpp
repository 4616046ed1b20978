// For each of the seven suspects of the method's section 10, kernels whose fault it is: it must be named
// first.
#include "harness/base/files.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"
#include "harness/run/suspects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace assay {
namespace {

using ::testing::HasSubstr;

struct Known {
  const char* kernel; // its reproducer is in corpus/<kernel>/
  Cause cause;
  const char* says; // of its evidence
};

struct Diagnosed {
  Finding finding;
  Diagnosis diagnosis;
};

// The kernel's first reproducer in the corpus, diagnosed by the signature that it is kept for.
Diagnosed diagnosed(const std::string& name) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("corpus/" + name))
    files.push_back(entry.path());
  std::ranges::sort(files);
  const std::filesystem::path path = files.front();
  const auto text = read_file(path);
  if (!text) throw std::runtime_error(to_string(text.error()));
  const auto test_case = parse_case(*text, path.string());
  if (!test_case) throw std::runtime_error(to_string(test_case.error()));
  const auto device = make_cpu_device();
  if (!device) throw std::runtime_error(to_string(device.error()));
  const auto kernel = Kernel::load(test_case->manifest, **device);
  if (!kernel) throw std::runtime_error(to_string(kernel.error()));
  const auto judged = judge(**kernel, *test_case, {.mode = JudgeMode::on_this_input});
  if (!judged) throw std::runtime_error(to_string(judged.error()));
  for (const Finding& finding : judged->findings) {
    if (to_string(finding.signature) != test_case->expect.signature) continue;
    auto diagnosis = diagnose(**kernel, finding);
    if (!diagnosis) throw std::runtime_error(to_string(diagnosis.error()));
    return {finding, *std::move(diagnosis)};
  }
  throw std::runtime_error(path.string() + " does not show its finding");
}

std::string told(const Diagnosis& diagnosis) {
  std::string text = diagnosis.note;
  for (const CauseEvidence& one : diagnosis.suspects)
    text += fmt::format("\n{} {:.2f}: {}", name_of(one.cause), one.score, one.evidence);
  for (const CauseEvidence& one : diagnosis.cleared)
    text += fmt::format("\n  cleared {} {:.2f}: {}", name_of(one.cause), one.score, one.evidence);
  return text;
}

class Suspects : public ::testing::TestWithParam<Known> {};

TEST_P(Suspects, TheTrueCauseIsNamedFirst) {
  const Diagnosed result = diagnosed(GetParam().kernel);
  const Diagnosis& diagnosis = result.diagnosis;
  ASSERT_FALSE(diagnosis.suspects.empty()) << told(diagnosis);
  EXPECT_EQ(name_of(diagnosis.suspects.front().cause), name_of(GetParam().cause)) << told(diagnosis);
  EXPECT_THAT(diagnosis.suspects.front().evidence, HasSubstr(GetParam().says)) << told(diagnosis);
  for (const CauseEvidence& one : diagnosis.suspects) {
    EXPECT_FALSE(one.evidence.empty()) << name_of(one.cause);
    EXPECT_GE(one.score, least_score) << name_of(one.cause);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfTheMethod, Suspects,
    ::testing::Values(Known{"softmax_drops_last_vector", Cause::indexing, "is not moved"},
                      Known{"gather_rows_swapped_strides", Cause::indexing,
                            "move what does not depend on them"},
                      Known{"layernorm_padded_variance", Cause::indexing, "only beside powers of two"},
                      Known{"sum_reads_past_tail", Cause::indexing, "out_of_bounds"},
                      Known{"sum_half_accumulator", Cause::accumulation_type, "after every term"},
                      Known{"gemm_storage_accumulator", Cause::accumulation_type, "after every term"},
                      Known{"layernorm_mean_in_storage", Cause::premature_cast, "every quotient rounded to"},
                      Known{"sum_undeclared_atomics", Cause::reduction_order, "the kernel adds with atomics"},
                      Known{"softmax_no_max", Cause::numerical_stability, "no maximum subtracted"},
                      Known{"layernorm_one_pass_variance", Cause::numerical_stability, "E[x^2] - E[x]^2"},
                      Known{"layernorm_eps_misplaced", Cause::numerical_stability, "eps"},
                      Known{"tanh_by_quotient", Cause::numerical_stability, "inputs of N(0, 1)"},
                      Known{"softmax_exp2_of_products", Cause::approximate_function, "log2(e)"},
                      Known{"rmsnorm_newton_root", Cause::approximate_function, "documented function errors"},
                      Known{"rmsnorm_backward_missing_mean", Cause::backward_formula, "a term is missing"},
                      Known{"sigmoid_backward_wrong_term", Cause::backward_formula,
                            "forward pass of the same case is right"}),
    [](const auto& info) { return std::string(info.param.kernel); });

TEST(NoSuspect, WhereNoneFits) {
  for (const char* kernel : {"dequantize_unsigned", "max_starts_at_zero"}) {
    const Diagnosed result = diagnosed(kernel);
    EXPECT_TRUE(result.diagnosis.suspects.empty()) << kernel << told(result.diagnosis);
    EXPECT_THAT(result.diagnosis.note, HasSubstr("none of the seven suspects"));
  }
}

TEST(NoSuspect, ARaceIsItsOwnCause) {
  const Diagnosed result = diagnosed("mean_missing_barrier");
  EXPECT_TRUE(result.diagnosis.suspects.empty());
  EXPECT_THAT(result.diagnosis.note, HasSubstr("the kind is the cause, race at kernel.cu:14"));
}

TEST(NoSuspect, AConstantFactorIsToldAllTheSame) {
  const Diagnosed result = diagnosed("variance_of_a_sample");
  EXPECT_TRUE(result.diagnosis.suspects.empty()) << told(result.diagnosis);
  EXPECT_THAT(result.diagnosis.note, HasSubstr("times the golden throughout one case"));
}

} // namespace
} // namespace assay
