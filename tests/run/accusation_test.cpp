// Right kernels on inputs at the edge of what their formula can do: none may be accused, whatever the seed.
#include "harness/base/files.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/inputs/space.h"
#include "harness/run/judge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace assay {
namespace {

// Online attention adds weights of up to 1 before it divides by their sum: with v at the largest finite value
// its sums overflow where the formula's do not quite.
TEST(Accusation, OnlineAttentionWithTheLargestValues) {
  const auto device = make_cpu_device();
  ASSERT_TRUE(device);
  int cases = 0, overflowed = 0;
  for (const char* manifest :
       {"kernels/attention/kernel.toml", "kernels/faulty/attention_unwritten_rows/fixed.toml",
        "kernels/faulty/attention_f16_overflow/fixed.toml"}) {
    const auto kernel = Kernel::load(manifest, **device);
    ASSERT_TRUE(kernel) << to_string(kernel.error());
    for (const DistributionKind scores :
         {DistributionKind::normal, DistributionKind::zero, DistributionKind::equal,
          DistributionKind::extreme_logits, DistributionKind::largest})
      for (const std::int64_t keys : {1, 3, 33})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          Case test_case;
          test_case.manifest = manifest;
          test_case.tolerance = (*kernel)->space().tolerance;
          test_case.dims = {{"batch", 1}, {"heads", 1}, {"q_len", 3}, {"kv_len", keys}, {"head_dim", 8}};
          for (const char* name : {"q", "k", "v"}) {
            TensorInput input;
            input.tensor = name;
            input.seed = 10 * seed + static_cast<std::uint64_t>(name[0]);
            input.distribution = make_distribution(name[0] == 'v' ? DistributionKind::largest : scores);
            test_case.inputs.push_back(std::move(input));
          }
          const auto legal = repair(test_case, (*kernel)->space());
          ASSERT_TRUE(legal);
          const auto judged = judge(**kernel, *legal);
          ASSERT_TRUE(judged) << to_string(judged.error());
          for (const Finding& finding : judged->findings)
            ADD_FAILURE() << finding.message << "\n" << to_text(*legal);
          const std::vector<double>& target = judged->trial.target.front();
          const std::vector<double>& golden = judged->trial.golden.front().value;
          for (std::size_t k = 0; k < target.size(); ++k)
            overflowed += !std::isfinite(target[k]) && std::isfinite(golden[k]);
          ++cases;
        }
  }
  EXPECT_EQ(cases, 180);
  EXPECT_GT(overflowed, 0) << "no case came near what is tested here";
}

std::optional<Judgement> judged_case(const char* file) {
  const auto device = make_cpu_device();
  const auto text = read_file(file);
  if (!device || !text) return std::nullopt;
  const auto test_case = parse_case(*text, file);
  if (!test_case) return std::nullopt;
  const auto kernel = Kernel::load(test_case->manifest, **device);
  if (!kernel) return std::nullopt;
  auto judged = judge(**kernel, *test_case);
  if (!judged) return std::nullopt;
  for (const Finding& finding : judged->findings) ADD_FAILURE() << file << ": " << finding.message;
  return *std::move(judged);
}

// On these a right kernel was accused once: it is still a suspect, which confirmation explains.
TEST(Accusation, ScaledQueriesAreSuspectsThatAreExplained) {
  for (const char* file : {"corpus/attention_f16_overflow.fixed/scaled_query_no_longer_cancels.case",
                           "corpus/known_right/scaled_query_no_longer_cancels.case",
                           "corpus/known_right/exp2_of_scaled_scores.case"}) {
    const auto judged = judged_case(file);
    ASSERT_TRUE(judged) << file;
    EXPECT_FALSE(judged->lucky.empty()) << file << ": no suspect, so nothing is tested";
  }
}

// Evaluations without parts are exact there, or many times closer.
TEST(Accusation, PartsOfAttentionAreSuspectsThatAreExplained) {
  for (const char* file : {"corpus/known_right/attention_normalised_after_every_tile.case",
                           "corpus/known_right/logsumexp_of_splits_is_rounded.case",
                           "corpus/known_right/exp2_of_a_fused_product.case",
                           "corpus/known_right/weights_of_a_maximum_that_stays.case"}) {
    const auto judged = judged_case(file);
    ASSERT_TRUE(judged) << file;
    EXPECT_FALSE(judged->lucky.empty()) << file << ": no suspect, so nothing is tested";
  }
}

// Forms that libraries have, where every other legal evaluation is exact, or does not overflow.
TEST(Accusation, FormsOfLibrariesAreSuspectsThatAreExplained) {
  for (const char* file :
       {"corpus/known_right/weighted_means_of_equal_elements.case",
        "corpus/known_right/weighted_means_of_threads.case",
        "corpus/known_right/idle_lanes_meet_a_value_of_infinite_square.case",
        "corpus/known_right/reciprocal_is_subnormal.case",
        "corpus/known_right/subnormal_products_of_a_softmax_gradient.case",
        "corpus/known_right/slope_of_swiglu_first.case", "corpus/known_right/cube_of_rstd_underflows.case",
        "corpus/known_right/cube_of_rstd_overflows.case", "corpus/known_right/logsumexp_of_large_logits.case",
        "corpus/known_right/logsumexp_of_base_two.case", "corpus/known_right/subnormal_gradient_of_tanh.case",
        "corpus/known_right/subnormal_gradient_of_tanh_by_factors.case",
        "corpus/known_right/sigmoid_of_two_branches_is_odd.case",
        "corpus/known_right/running_mean_of_a_one.case",
        "corpus/known_right/squares_scaled_by_the_largest.case"}) {
    const auto judged = judged_case(file);
    ASSERT_TRUE(judged) << file;
    EXPECT_FALSE(judged->lucky.empty()) << file << ": no suspect, so nothing is tested";
  }
}

// A factor that meets each term of a norm's gradient first makes infinities of what is finite: excused.
TEST(Accusation, AFactorBeforeTheDifferenceMayOverflow) {
  for (const char* file : {"corpus/known_right/gradient_of_a_norm_times_its_columns.case",
                           "corpus/known_right/rstd_times_each_term_overflows.case"}) {
    const auto judged = judged_case(file);
    ASSERT_TRUE(judged) << file;
    EXPECT_FALSE(std::isfinite(judged->trial.target.front().back())) << file << ": nothing is tested";
    EXPECT_TRUE(std::isfinite(judged->trial.golden.front().value.back())) << file;
  }
}

// What the rounded product of the maximum leaves is 2^256 too large: the kernel has NaN, rightly excused.
TEST(Accusation, APowerOfWhatAHugeMaximumLeavesIsNoFinding) {
  const auto judged = judged_case("corpus/known_right/exp2_of_what_a_huge_maximum_leaves.case");
  ASSERT_TRUE(judged);
  EXPECT_TRUE(std::isnan(judged->trial.target.front().front())) << "nothing is tested";
}

// Alike weights, all rounded up to f16, of values at the largest: an infinity beyond anything that
// evaluations with noise in each weight show, within the rigorous bound. Only redraws tell it from a fault:
// on this input alone it stays a suspect.
TEST(Accusation, RoundedWeightsOfTheLargestAreDrawnAgain) {
  const auto judged = judged_case("tests/run/cases/rounded_weights_of_the_largest.case");
  ASSERT_TRUE(judged);
  EXPECT_TRUE(std::isinf(judged->trial.target.front().front())) << "nothing is tested";
  EXPECT_FALSE(judged->lucky.empty()) << "nothing is tested";
}

// bf16 gradients times silu(10) = 9.99955, which is beside 10: most products that a factor of 10 would put
// onto ties are rounded down, by every kernel that does not round the factor first.
TEST(Accusation, OneGateIsOneRounding) {
  const auto judged = judged_case("corpus/swiglu_one_wave.fixed/one_gate_is_one_rounding.case");
  ASSERT_TRUE(judged);
  ASSERT_EQ(judged->trial.tensors.size(), 2u);
  EXPECT_LT(statistics_of(judged->trial, 1).target_bias.mean, -0.1) << "nothing is tested";
}

} // namespace
} // namespace assay
