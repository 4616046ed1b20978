#include "harness/numerics/errors.h"
#include "harness/numerics/gate.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// One element's standing as compare() sees it, among nothing else.
struct Element {
  DType dtype = DType::f16;
  double golden = 0, reference = 0, target = 0;
  std::uint8_t overflows = 0;
};

Standing standing_of(const Element& e) {
  const Comparands c{.dtype = e.dtype,
                     .golden = {&e.golden, 1},
                     .formula_overflows = {&e.overflows, 1},
                     .reference = {&e.reference, 1},
                     .target = {&e.target, 1}};
  const Structure s = compare(c, {}).structure;
  EXPECT_EQ(s.judged + s.same_special + s.overflow_edge + s.formula_overflow + s.wrong, 1);
  if (s.judged) return Standing::judged;
  if (s.same_special) return Standing::same_special;
  if (s.overflow_edge) return Standing::overflow_edge;
  return s.formula_overflow ? Standing::formula_overflow : Standing::wrong;
}

TEST(structure, finite_numbers_are_judged) {
  EXPECT_EQ(standing_of({DType::f32, 1, 1, 7}), Standing::judged);
  EXPECT_EQ(standing_of({DType::f32, 0, -0.0, 0}), Standing::judged);
}

TEST(structure, nan_and_infinities_stand_where_they_must) {
  EXPECT_EQ(standing_of({DType::f32, nan, nan, nan}), Standing::same_special);
  EXPECT_EQ(standing_of({DType::f32, infinity, infinity, infinity}), Standing::same_special);
  EXPECT_EQ(standing_of({DType::f32, -infinity, -infinity, -infinity}), Standing::same_special);
  EXPECT_EQ(standing_of({DType::f32, 1e300, infinity, infinity}), Standing::same_special); // G is infinite
  EXPECT_EQ(standing_of({DType::f32, nan, nan, 1}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, nan, nan, infinity}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, 1, 1, nan}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, 1, 1, infinity}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, infinity, infinity, -infinity}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, infinity, infinity, 3e38}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f32, 1e300, infinity, 3e38}), Standing::wrong);
}

// f16: largest 65504, infinity from 65520 on, spacing 32 below 65536 and 64 above it.
TEST(structure, at_the_overflow_edge_both_are_right) {
  // g = 65519 is 1 from the edge; |r - g| = 15 and the own floor 15: threshold 45.
  EXPECT_EQ(standing_of({DType::f16, 65519, 65504, infinity}), Standing::overflow_edge);
  EXPECT_EQ(standing_of({DType::f16, -65519, -65504, -infinity}), Standing::overflow_edge);
  EXPECT_EQ(standing_of({DType::f16, 65519, 65504, 65504}), Standing::judged);
  // g = 65521: G infinite; unbounded it rounds to 65536, so the floor alone is 15, and the edge 1 away.
  EXPECT_EQ(standing_of({DType::f16, 65521, infinity, 65504}), Standing::overflow_edge);
  EXPECT_EQ(standing_of({DType::f16, 65521, infinity, infinity}), Standing::same_special);
  // The reference overflowed at its store, the target did not.
  EXPECT_EQ(standing_of({DType::f16, 65519, infinity, 65504}), Standing::overflow_edge);
  // 65584 is 64 beyond the edge, its own floor 16; but the reference, 80 off, stayed finite as well.
  EXPECT_EQ(standing_of({DType::f16, 65584, 65504, 65504}), Standing::overflow_edge);
  EXPECT_EQ(standing_of({DType::f16, 65584, infinity, 65504}), Standing::wrong);
  // Never NaN or the other infinity.
  EXPECT_EQ(standing_of({DType::f16, 65519, 65504, nan}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f16, 65519, 65504, -infinity}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f16, 65521, infinity, nan}), Standing::wrong);
  // 70000 rounds to 70016 unbounded: floor 16, but the edge is 4480 away.
  EXPECT_EQ(standing_of({DType::f16, 70000, infinity, 65504}), Standing::wrong);
  // 65500 with an exact-looking reference: |r - g| = 4, floor 4, threshold 12 < 20.
  EXPECT_EQ(standing_of({DType::f16, 65500, 65504, infinity}), Standing::wrong);
  // f64's edge lies above every double.
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(standing_of({DType::f64, largest, largest, infinity}), Standing::wrong);
}

TEST(structure, the_edge_uses_the_error_of_the_other_elements_too) {
  // The first element's reference error is 64: threshold 2 * 64 + 4 = 132 reaches the edge, 20 above 65500.
  const std::vector<double> golden{1000, 65500}, reference{1064, 65504}, target{1000, infinity};
  const Comparands c{.dtype = DType::f16, .golden = golden, .reference = reference, .target = target};
  const Comparison comparison = compare(c, {});
  EXPECT_EQ(comparison.structure.overflow_edge, 1);
  EXPECT_EQ(comparison.structure.judged, 1);
  EXPECT_TRUE(comparison.structure.passed());
}

TEST(structure, where_the_formula_overflows_nothing_follows) {
  for (const double target : {1.0, nan, infinity, -infinity}) {
    EXPECT_EQ(standing_of({DType::f32, 1, 1, target, 1}), Standing::formula_overflow);
    EXPECT_EQ(standing_of({DType::f32, 1, nan, target}),
              Standing::formula_overflow); // r overflowed on the way
  }
}

TEST(structure, where_legal_evaluations_disagree_with_g_nothing_follows) {
  // 3e38 + 3e38 - infinity: -infinity exactly, NaN in float32. g = -infinity, r = NaN.
  for (const double target : {1.0, nan, infinity})
    EXPECT_EQ(standing_of({DType::f32, -infinity, nan, target}), Standing::formula_overflow);
  EXPECT_EQ(standing_of({DType::f32, -infinity, nan, -infinity}), Standing::same_special);
  // By an envelope that holds both a right and a differing evaluation, and by one that holds right ones only.
  const std::vector<double> golden{-infinity, -infinity}, envelope{infinity, 0}, target{nan, nan};
  const Comparands c{.dtype = DType::f32, .golden = golden, .target = target, .envelope_error = envelope};
  const Structure structure = compare(c, {}).structure;
  EXPECT_EQ(structure.formula_overflow, 1);
  EXPECT_EQ(structure.wrong, 1);
  EXPECT_EQ(structure.first_wrong, 1);
}

TEST(structure, beyond_the_overflow_a_legal_nan_proves_nothing) {
  // g rounds to infinity, but the reference met infinity times 0 on its way.
  EXPECT_EQ(standing_of({DType::bf16, 3.41e38, nan, nan}), Standing::formula_overflow);
  EXPECT_EQ(standing_of({DType::bf16, 3.41e38, -infinity, nan}), Standing::formula_overflow);
  EXPECT_EQ(standing_of({DType::bf16, 3.41e38, infinity, nan}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::bf16, 3.41e38, nan, infinity}), Standing::same_special);
}

TEST(structure, saturating_types_have_no_infinity) {
  EXPECT_EQ(standing_of({DType::f8e4m3, 1e9, 448, 448}), Standing::judged);
  EXPECT_EQ(standing_of({DType::f8e4m3, -infinity, -448, -448}), Standing::judged);
  EXPECT_EQ(standing_of({DType::f8e4m3, 1e9, 448, nan}), Standing::wrong);
  EXPECT_EQ(standing_of({DType::f8e4m3, nan, nan, nan}), Standing::same_special);
  EXPECT_EQ(comparable_golden(DType::f8e4m3, 1e9), 448);
  EXPECT_EQ(comparable_golden(DType::f8e4m3, -infinity), -448);
  EXPECT_EQ(comparable_golden(DType::f8e5m2, 1e9), 1e9);
}

TEST(structure, counts_and_the_first_wrong_one) {
  const std::vector<double> golden{1, nan, 2, 3}, reference = golden, target{1, nan, nan, infinity};
  const Comparands c{.dtype = DType::f32, .golden = golden, .reference = reference, .target = target};
  const Structure structure = compare(c, {}).structure;
  EXPECT_EQ(structure.judged, 1);
  EXPECT_EQ(structure.same_special, 1);
  EXPECT_EQ(structure.wrong, 2);
  EXPECT_EQ(structure.first_wrong, 2);
}

TEST(exact, compares_by_value) {
  const std::vector<double> rounded{1, nan, 0.0, infinity}, right{1, nan, -0.0, infinity}, wrong{1, 0, 0, 5};
  EXPECT_EQ(compare_exact(rounded, {}, right).mismatches, 0);
  const ExactResult result = compare_exact(rounded, {}, wrong);
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.first, 1);
  EXPECT_EQ(result.misplaced, 2); // the NaN and the infinity
  EXPECT_EQ(result.first_misplaced, 1);
  const ExactResult numbers = compare_exact(rounded, {}, std::vector<double>{2, nan, 0, infinity});
  EXPECT_EQ(numbers.mismatches, 1);
  EXPECT_EQ(numbers.misplaced, 0);
}

TEST(exact, a_neighbour_may_be_allowed) {
  const std::vector<double> rounded{6, 6}, alternative{5, 6}, target{5, 5};
  const ExactResult result = compare_exact(rounded, alternative, target);
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.first, 1);
}

TEST(envelope, takes_the_largest_of_every_legal_evaluation) {
  const std::vector<double> golden{1, 2, 1e300, nan};
  Comparands c{.dtype = DType::f32, .golden = golden, .reference = golden, .target = golden};
  std::vector<double> envelope(4);
  widen_envelope(c, std::vector<double>{1.5, 2, infinity, nan}, envelope);
  EXPECT_EQ(envelope, (std::vector<double>{0.5, 0, 0, 0}));
  widen_envelope(c, std::vector<double>{0.75, nan, infinity, 1}, envelope);
  EXPECT_EQ(envelope,
            (std::vector<double>{0.5, infinity, 0, infinity})); // where g is NaN, 1 is another class
}

TEST(envelope, errors_are_those_of_the_gate) {
  const std::vector<double> golden{1, 1e9}, low{0x1p-60, 0}, values{1 + 0x1p-52, 448};
  std::vector<double> envelope(2);
  widen_envelope({.dtype = DType::f64, .golden = golden, .golden_low = low}, values, envelope);
  EXPECT_EQ(envelope, (std::vector<double>{0x1p-52 - 0x1p-60, 1e9 - 448}));
  envelope = {0, 0};
  widen_envelope({.dtype = DType::f8e4m3, .golden = golden}, values, envelope);
  EXPECT_EQ(envelope, (std::vector<double>{0x1p-52, 0})); // saturated
  widen_envelope({.dtype = DType::f32, .golden = golden}, std::vector<double>{0.5, 1e9}, envelope);
  EXPECT_EQ(envelope, (std::vector<double>{0.5, 0}));
}

} // namespace
} // namespace assay
