#include "harness/numerics/formats.h"
#include "harness/numerics/ulp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(ulp, ranks_rise_by_one_through_every_value) {
  for (const DType type : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2}) {
    const Format& format = format_of(type);
    const std::int64_t top = ordered(type, to_bits(type, format.largest));
    const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
    for (std::int64_t rank = -top; rank < top; ++rank) {
      const auto bits = [sign](std::int64_t r) {
        return static_cast<std::uint64_t>(r < 0 ? -r : r) | (r < 0 ? sign : 0);
      };
      ASSERT_EQ(ordered(type, bits(rank)), rank);
      ASSERT_LT(from_bits(type, bits(rank)), from_bits(type, bits(rank + 1)));
      ASSERT_EQ(ulp_distance(type, from_bits(type, bits(rank)), from_bits(type, bits(rank + 1))), 1u)
          << name_of(type) << rank;
    }
  }
}

TEST(ulp, distance_by_hand) {
  EXPECT_EQ(ulp_distance(DType::f32, 0.0, -0.0), 0u);
  EXPECT_EQ(ulp_distance(DType::f64, 0.0, -0.0), 0u);
  EXPECT_EQ(ulp_distance(DType::f32, 1, 1 + 0x1p-23), 1u);
  EXPECT_EQ(ulp_distance(DType::f32, 1, 1 - 0x1p-24), 1u);
  EXPECT_EQ(ulp_distance(DType::f32, 1, 2), std::uint64_t{1} << 23);
  EXPECT_EQ(ulp_distance(DType::f32, 0x1p-149, -0x1p-149), 2u); // across both zeros
  EXPECT_EQ(ulp_distance(DType::f16, 65504, infinity), 1u);
  EXPECT_EQ(ulp_distance(DType::f16, 0x1p-24, 0), 1u);
  EXPECT_EQ(ulp_distance(DType::bf16, 0x1.fep127, infinity), 1u);
  EXPECT_EQ(ulp_distance(DType::f8e4m3, 448, 416), 1u);
  EXPECT_EQ(ulp_distance(DType::f64, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()),
            2 * 0x7fefffffffffffffu);
  EXPECT_EQ(ulp_distance(DType::i32, -5, 7), 12u);
  EXPECT_EQ(ulp_distance(DType::f32, nan, nan), 0u);
  EXPECT_EQ(ulp_distance(DType::f32, nan, 1), std::numeric_limits<std::uint64_t>::max());
}

TEST(ulp, spacing_by_hand) {
  EXPECT_EQ(spacing(DType::f32, 1), 0x1p-23);
  EXPECT_EQ(spacing(DType::f32, -1.99), 0x1p-23);
  EXPECT_EQ(spacing(DType::f32, 0.99), 0x1p-24);
  EXPECT_EQ(spacing(DType::f32, 0), 0x1p-149);
  EXPECT_EQ(spacing(DType::f32, 0x1p-126), 0x1p-149);
  EXPECT_EQ(spacing(DType::f32, 0x1p-125), 0x1p-148);
  EXPECT_EQ(spacing(DType::f16, 65504), 32);
  EXPECT_EQ(spacing(DType::f16, 1e9), 32); // above the largest: of the last binade
  EXPECT_EQ(spacing(DType::bf16, 3), 0x1p-6);
  EXPECT_EQ(spacing(DType::f8e4m3, 448), 32);
  EXPECT_EQ(spacing(DType::f64, 1), 0x1p-52);
}

TEST(ulp, signed_error_points_away_from_zero) {
  EXPECT_EQ(signed_error_in_ulps(DType::bf16, 1.5, 0, 1.5 + 0x1p-7), 1);
  EXPECT_EQ(signed_error_in_ulps(DType::bf16, -1.5, 0, -1.5 - 0x1p-7), 1);
  EXPECT_EQ(signed_error_in_ulps(DType::bf16, 1.5 + 0x1p-8, 0, 1.5), -0.5); // truncated
  EXPECT_EQ(signed_error_in_ulps(DType::bf16, -1.5 - 0x1p-8, 0, -1.5), -0.5);
  EXPECT_EQ(signed_error_in_ulps(DType::f64, 1, 0x1p-54, 1), -0.25);
}

TEST(ulp, a_violation_exceeds_the_limit_and_twice_the_legal_distance) {
  const std::vector<double> rounded{1, 1, 1, 1, nan},
      target{1 + 3 * 0x1p-23, 1 + 5 * 0x1p-23, 1 + 2 * 0x1p-23, 1, 1};
  std::vector<std::uint64_t> legal{0, 0, 0, 0, 0};
  UlpResult result = check_ulps(DType::f32, rounded, target, legal, 2);
  EXPECT_EQ(result.violations, 2);
  EXPECT_EQ(result.worst_element, 1);
  EXPECT_EQ(result.worst_distance, 5u);
  EXPECT_EQ(result.allowed, 2u);

  // Twice 2 allows 4 of 5, not 5; twice 3 allows it.
  legal = {2, 2, 0, 0, 0};
  result = check_ulps(DType::f32, rounded, target, legal, 2);
  EXPECT_EQ(result.violations, 1);
  EXPECT_EQ(result.worst_element, 1);
  EXPECT_EQ(result.allowed, 4u);
  // Twice 2 is enough for 4.
  EXPECT_EQ(check_ulps(DType::f32, {rounded.data(), 1}, std::vector<double>{1 + 4 * 0x1p-23},
                       std::vector<std::uint64_t>{2}, 2)
                .violations,
            0);
  legal = {2, 3, 0, 0, 0};
  EXPECT_EQ(check_ulps(DType::f32, rounded, target, legal, 2).violations, 0);

  legal = {0, 0, 0, 0, 0};
  const std::vector<std::uint8_t> excluded{0, 1, 0, 0, 0};
  EXPECT_EQ(check_ulps(DType::f32, rounded, target, legal, 2, excluded).worst_element, 0);
}

TEST(ulp, the_envelope_widens_the_distance) {
  const std::vector<double> rounded{1, 2, nan}, a{1 + 0x1p-23, 2, 1}, b{1 - 3 * 0x1p-24, nan, 1};
  std::vector<std::uint64_t> legal(3);
  widen_distances(DType::f32, rounded, a, legal);
  widen_distances(DType::f32, rounded, b, legal);
  EXPECT_EQ(legal, (std::vector<std::uint64_t>{3, 0, 0}));
}

} // namespace
} // namespace assay
