#include "harness/numerics/gate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Output {
  DType dtype = DType::f32;
  std::vector<double> golden = {}, reference = {}, target = {};
  std::vector<double> low = {}, bound = {}, magnitude = {}, envelope = {};
  std::vector<std::int64_t> lines = {};
  std::vector<std::uint8_t> overflows = {};

  Comparison judged(const GateRule& rule = {}) const {
    return compare({dtype, golden, low, bound, magnitude, overflows, lines, reference, target, envelope},
                   rule);
  }
};

// g = {1, 2 + 2^-30, 4}: rounding floor 2^-30. |r - g| <= 2^-23.
Output three() {
  return {.dtype = DType::f32,
          .golden = {1, 2 + 0x1p-30, 4},
          .reference = {1 + 0x1p-23, 2, 4},
          .target = {1, 2, 4}};
}

TEST(gate, quantities_by_hand) {
  Output output = three();
  output.target[2] = 4 + 0x1p-21; // one spacing off
  const Comparison comparison = output.judged();
  const Gate& gate = comparison.gate;
  EXPECT_EQ(gate.reference_error, 0x1p-23);
  EXPECT_EQ(gate.worst_reference_element, 0);
  EXPECT_EQ(gate.rounding_floor, 0x1p-30);
  EXPECT_EQ(gate.absolute_floor, 0x1p-30);
  EXPECT_EQ(gate.golden_bound, 0);
  EXPECT_EQ(gate.threshold, 0x1p-22 + 0x1p-30);
  EXPECT_EQ(gate.target_error, 0x1p-21);
  EXPECT_EQ(gate.worst_element, 2);
  EXPECT_EQ(gate.ratio, 0x1p-21 / (0x1p-22 + 0x1p-30));
  EXPECT_EQ(gate.golden_scale, 4);
  EXPECT_EQ(gate.reference_relative_error, 0x1p-25);
  EXPECT_TRUE(gate.valid());
  EXPECT_FALSE(gate.passed());
  EXPECT_TRUE(comparison.suspect());
  EXPECT_EQ(comparison.structure.judged, 3);
}

TEST(gate, passes_at_the_threshold_and_fails_above_it) {
  Output output{.dtype = DType::f64, .golden = {1}, .reference = {1 + 0x1p-20}, .target = {1 - 0x1p-19}};
  EXPECT_EQ(output.judged().gate.ratio, 1); // threshold = 2 * 2^-20
  EXPECT_TRUE(output.judged().gate.passed());
  output.target[0] = std::nextafter(output.target[0], 0);
  EXPECT_FALSE(output.judged().gate.passed());
  EXPECT_TRUE(output.judged({.fudge = 2.5}).gate.passed());
  EXPECT_TRUE(output.judged({.atol = 1e-9}).gate.passed());
}

TEST(gate, absolute_tolerance_replaces_a_smaller_rounding_floor) {
  const Gate gate = three().judged({.atol = 0.25}).gate;
  EXPECT_EQ(gate.rounding_floor, 0x1p-30);
  EXPECT_EQ(gate.absolute_floor, 0.25);
  EXPECT_EQ(gate.threshold, 0x1p-22 + 0.25);
}

TEST(gate, flushed_subnormals_raise_the_floor_of_float32_arithmetic_only) {
  Output output{.dtype = DType::f16, .golden = {0}, .reference = {0}, .target = {0}};
  EXPECT_EQ(output.judged({.flush_terms = 10}).gate.threshold, 10 * 0x1p-126);
  EXPECT_EQ(output.judged().gate.threshold, 0);
  EXPECT_TRUE(output.judged().gate.passed());
  output.dtype = DType::f64;
  EXPECT_EQ(output.judged({.flush_terms = 10}).gate.threshold, 0);
}

TEST(gate, the_low_word_of_the_golden_counts) {
  Output output{
      .dtype = DType::f64, .golden = {1}, .reference = {1}, .target = {1 + 0x1p-52}, .low = {0x1p-54}};
  const Gate gate = output.judged().gate;
  EXPECT_EQ(gate.rounding_floor, 0x1p-54);
  EXPECT_EQ(gate.reference_error, 0x1p-54);
  EXPECT_EQ(gate.target_error, 0x1p-52 - 0x1p-54);
  EXPECT_EQ(gate.threshold, 3 * 0x1p-54);
  EXPECT_EQ(gate.ratio, 1);
}

TEST(gate, the_golden_bound_widens_the_threshold_and_may_spoil_it) {
  Output output{
      .dtype = DType::f32, .golden = {1}, .reference = {1 + 0x1p-10}, .target = {1}, .bound = {0x1p-20}};
  EXPECT_EQ(output.judged().gate.threshold, 0x1p-9 + 0x1p-20);
  EXPECT_TRUE(output.judged().gate.valid());
  output.bound = {0x1p-10}; // a third of the threshold
  EXPECT_FALSE(output.judged().gate.golden_exact_enough);
  EXPECT_FALSE(output.judged().gate.valid());
  EXPECT_FALSE(output.judged().suspect());
  // At 1 % exactly: bound / (2^-9 + bound) = 1/100 for bound = 2^-9 / 99.
  output.bound = {0.999 * 0x1p-9 / 99};
  EXPECT_TRUE(output.judged().gate.valid());
  output.bound = {1.001 * 0x1p-9 / 99};
  EXPECT_FALSE(output.judged().gate.valid());
}

TEST(gate, a_bound_far_below_the_output_spacing_spoils_nothing) {
  Output output{.dtype = DType::f32, .golden = {1}, .reference = {1}, .target = {1}, .bound = {1e-17}};
  EXPECT_EQ(output.judged().gate.threshold, 1e-17); // nothing but the bound
  EXPECT_TRUE(output.judged().gate.valid());
  EXPECT_TRUE(output.judged().gate.passed());
  output.target = {1 + 0x1p-23};
  EXPECT_TRUE(output.judged().gate.valid());
  EXPECT_FALSE(output.judged().gate.passed());
  output.bound = {0.006 * 0x1p-23}; // over 1 % of half a spacing
  EXPECT_FALSE(output.judged().gate.valid());
}

TEST(gate, an_ill_conditioned_reference_judges_nothing) {
  Output output{.dtype = DType::f32, .golden = {1}, .reference = {1.0625}, .target = {100}};
  EXPECT_EQ(output.judged().gate.reference_relative_error, 0.0625);
  EXPECT_TRUE(output.judged().gate.valid());
  EXPECT_TRUE(output.judged().suspect());
  output.reference = {1.125};
  EXPECT_FALSE(output.judged().gate.valid());
  EXPECT_FALSE(output.judged().suspect());
  EXPECT_TRUE(output.judged({.reference_limit = 0.125}).gate.valid());
}

// A wrong small row behind a right large one.
TEST(gate, lines_are_scaled_by_what_they_could_suffer) {
  Output output{.dtype = DType::f32,
                .golden = {1024, 1},
                .reference = {1025, 1},
                .target = {1024, 1.5},
                .magnitude = {4096, 1},
                .lines = {0, 1, 2}};
  const Gate gate = output.judged().gate;
  EXPECT_EQ(gate.ratio, 0.25); // 0.5 / (2 * 1)
  EXPECT_EQ(gate.lines.rho, 1.0 / 4096);
  EXPECT_EQ(gate.lines.line, 1);
  EXPECT_EQ(gate.lines.element, 1);
  EXPECT_EQ(gate.lines.target_error, 0.5);
  EXPECT_EQ(gate.lines.magnitude, 1);
  EXPECT_EQ(gate.lines.reach, 1.0 / 4096);
  EXPECT_EQ(gate.lines.golden_bound, 0);
  EXPECT_EQ(gate.lines.threshold, 2.0 / 4096);
  EXPECT_EQ(gate.lines.ratio, 1024);
  EXPECT_EQ(gate.lines.lines_over, 1);
  EXPECT_EQ(gate.worst_ratio(), 1024);
  EXPECT_FALSE(gate.passed());

  output.target = {1024, 1 + 0x1p-12}; // half of what it may be off
  EXPECT_EQ(output.judged().gate.lines.lines_over, 0);
  EXPECT_TRUE(output.judged().gate.passed());
}

TEST(gate, a_line_takes_its_largest_magnitude_and_its_own_floor) {
  Output output{.dtype = DType::bf16,
                .golden = {1 + 0x1p-8, 2, 1, 1},
                .reference = {1, 2.0625, 1, 1},
                .target = {1, 2, 1, 1 + 0x1p-7},
                .magnitude = {1, 2, 1, 8},
                .lines = {0, 2, 4}};
  const LineGate lines = output.judged().gate.lines;
  EXPECT_EQ(lines.rho, 0.03125); // 0.0625 / 2
  // Line 0: threshold 2 * 0.03125 * 2 + 2^-8, error 2^-8. Line 1: threshold 2 * 0.03125 * 8 + 0, error 2^-7.
  EXPECT_EQ(lines.line, 0);
  EXPECT_EQ(lines.floor, 0x1p-8);
  EXPECT_EQ(lines.threshold, 0.125 + 0x1p-8);
  EXPECT_EQ(lines.ratio, 0x1p-8 / (0.125 + 0x1p-8));
}

TEST(gate, a_line_without_magnitude_may_err_like_its_reference) {
  Output output{.dtype = DType::f32,
                .golden = {0, 1},
                .reference = {0x1p-30, 1},
                .target = {0x1p-29, 1},
                .magnitude = {0, 1},
                .lines = {0, 1, 2}};
  const Gate gate = output.judged().gate;
  EXPECT_EQ(gate.lines.rho, 0);
  EXPECT_EQ(gate.lines.reach, 0x1p-30);
  EXPECT_EQ(gate.lines.ratio, 1);
  EXPECT_TRUE(gate.passed());
}

TEST(gate, a_line_with_too_large_a_golden_bound_judges_nothing) {
  Output output{.dtype = DType::f32,
                .golden = {1024, 1},
                .reference = {1025, 1},
                .target = {1024, 1.5},
                .bound = {0, 0x1p-12},
                .magnitude = {4096, 1},
                .lines = {0, 1, 2}};
  const Gate gate = output.judged().gate;
  EXPECT_EQ(gate.lines.lines_invalid, 1); // the bound is a third of the line's threshold of 2^-11 + 2^-12
  EXPECT_EQ(gate.lines.lines_over, 0);
  EXPECT_EQ(gate.lines.line, 0);
  EXPECT_TRUE(gate.valid()); // 2^-12 of the tensor's threshold of 2
  EXPECT_TRUE(gate.passed());
}

TEST(gate, a_line_adds_its_own_golden_bound) {
  const Output output{.dtype = DType::f32,
                      .golden = {1024, 1},
                      .reference = {1025, 1},
                      .target = {1024, 1},
                      .bound = {0.001, 0x1p-20},
                      .magnitude = {4096, 1},
                      .lines = {0, 1, 2}};
  const LineGate lines = output.judged().gate.lines;
  EXPECT_EQ(lines.threshold, 2 + 0.001); // both ratios are 0: the first line
  Output second = output;
  second.target[1] = 1 + 0x1p-13;
  EXPECT_EQ(second.judged().gate.lines.line, 1);
  EXPECT_EQ(second.judged().gate.lines.threshold, 2.0 / 4096 + 0x1p-20);
  EXPECT_EQ(second.judged().gate.lines.golden_bound, 0x1p-20);
}

TEST(gate, the_envelope_replaces_the_reference) {
  Output output = three();
  output.target[2] = 4 + 0x1p-21;
  output.envelope = {0x1p-23, 0x1p-30, 0x1p-22};
  const Gate gate = output.judged().gate;
  EXPECT_EQ(gate.reference_error, 0x1p-22);
  EXPECT_EQ(gate.threshold, 0x1p-21 + 0x1p-30);
  EXPECT_TRUE(gate.passed());
  output.envelope[2] = infinity; // a legal order overflows there
  const Comparison comparison = output.judged();
  EXPECT_EQ(comparison.structure.formula_overflow, 1);
  EXPECT_EQ(comparison.structure.judged, 2);
  EXPECT_EQ(comparison.gate.target_error, 0x1p-30);
}

TEST(gate, elements_that_are_not_finite_leave_the_numbers) {
  Output output{.dtype = DType::f32,
                .golden = {1, nan, infinity, 2, 1e300},
                .reference = {1, nan, infinity, nan, infinity},
                .target = {1 + 0x1p-23, nan, infinity, 77, infinity},
                .bound = {0, nan, infinity, 0, 0},
                .magnitude = {1, nan, infinity, 2, 1e300},
                .lines = {0, 2, 5}};
  const Comparison comparison = output.judged();
  EXPECT_EQ(comparison.structure.judged, 1);
  EXPECT_EQ(comparison.structure.same_special, 3);
  EXPECT_EQ(comparison.structure.formula_overflow, 1);
  EXPECT_EQ(comparison.gate.target_error, 0x1p-23);
  EXPECT_EQ(comparison.gate.threshold, 0);
  EXPECT_EQ(comparison.gate.golden_scale, 1);
  EXPECT_EQ(comparison.gate.ratio, infinity);
  EXPECT_FALSE(comparison.internal_fault);
  EXPECT_FALSE(comparison.gate.passed());
  EXPECT_EQ(comparison.gate.lines.line, 0); // line 1 has no judged element
}

TEST(gate, a_threshold_that_is_not_finite_is_our_fault_and_no_pass) {
  Output output = three();
  output.bound = {0, nan, 0};
  const Comparison comparison = output.judged();
  EXPECT_TRUE(comparison.internal_fault);
  EXPECT_FALSE(comparison.gate.passed());
  EXPECT_TRUE(three().judged({.fudge = infinity}).internal_fault);
  EXPECT_TRUE(three().judged({.atol = nan}).internal_fault);
}

TEST(gate, is_not_valid_where_the_golden_has_no_bound) {
  Output output = three();
  output.bound = {0, infinity, 0};
  const Comparison comparison = output.judged();
  EXPECT_FALSE(comparison.internal_fault);
  EXPECT_FALSE(comparison.gate.valid());
  EXPECT_FALSE(comparison.gate.passed());
  EXPECT_FALSE(comparison.suspect());
}

TEST(gate, nothing_to_judge_is_no_error) {
  const Output empty{};
  EXPECT_EQ(empty.judged().gate.threshold, 0);
  EXPECT_EQ(empty.judged().gate.worst_element, -1);
  EXPECT_TRUE(empty.judged().gate.valid());
  EXPECT_TRUE(empty.judged().gate.passed());
  Output zero_lines{};
  zero_lines.lines = {0, 0, 0};
  EXPECT_EQ(zero_lines.judged().gate.lines.line, -1);
}

TEST(gate, a_saturated_element_does_not_raise_the_floor) {
  Output output{.dtype = DType::f8e4m3, .golden = {1e9, 1}, .reference = {448, 1}, .target = {448, 1.125}};
  EXPECT_EQ(output.judged().gate.threshold, 0);
  EXPECT_EQ(output.judged().gate.target_error, 0.125);
  EXPECT_FALSE(output.judged().gate.passed());
}

// The bulk passes against a plain loop, for lengths around the vector width and with and without special
// values.
TEST(gate, agrees_with_a_plain_loop) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 70;
    Output output;
    output.dtype = round % 2 ? DType::bf16 : DType::f32;
    output.lines = {0, static_cast<std::int64_t>(count / 3), static_cast<std::int64_t>(count)};
    double reference_error = 0, target_error = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double g = normal(random);
      output.golden.push_back(g);
      output.reference.push_back(static_cast<float>(g * (1 + 1e-3 * normal(random))));
      output.target.push_back(static_cast<float>(g * (1 + 1e-3 * normal(random))));
      output.magnitude.push_back(2 * std::fabs(g));
      output.overflows.push_back(round % 3 == 0 && random() % 5 == 0);
      if (round % 5 == 0 && random() % 7 == 0)
        output.golden[i] = output.reference[i] = output.target[i] = nan;
      if (output.overflows[i] || std::isnan(output.golden[i])) continue;
      reference_error = std::max(reference_error, std::fabs(output.reference[i] - g));
      target_error = std::max(target_error, std::fabs(output.target[i] - g));
    }
    const Gate gate = output.judged().gate;
    ASSERT_EQ(gate.reference_error, reference_error);
    ASSERT_EQ(gate.target_error, target_error);
    if (gate.worst_element >= 0) {
      const auto worst = static_cast<std::size_t>(gate.worst_element);
      ASSERT_EQ(std::fabs(output.target[worst] - output.golden[worst]), target_error);
      ASSERT_FALSE(output.overflows[worst]);
    }
  }
}

} // namespace
} // namespace assay
