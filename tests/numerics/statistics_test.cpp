#include "harness/numerics/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Comparands comparands(const std::vector<double>& golden, const std::vector<double>& reference,
                      const std::vector<double>& target, DType dtype = DType::f64) {
  return {.dtype = dtype, .golden = golden, .reference = reference, .target = target};
}

TEST(rms, by_hand) {
  const std::vector<double> golden{0, 0, 10, 10}, reference{1, 1, 11, 11}, target{3, -4, 10, 10};
  const RmsErrors rms = rms_errors(comparands(golden, reference, target));
  EXPECT_EQ(rms.count, 4);
  EXPECT_EQ(rms.reference, 1);
  EXPECT_EQ(rms.target, 2.5); // sqrt((9 + 16) / 4)
  EXPECT_EQ(rms.ratio, 2.5);
}

TEST(rms, exact_outputs) {
  const std::vector<double> one{1}, two{2};
  EXPECT_EQ(rms_errors(comparands(one, one, one)).ratio, 1);
  EXPECT_EQ(rms_errors(comparands(one, one, two)).ratio, infinity);
  EXPECT_EQ(rms_errors(comparands(one, two, one)).ratio, 0);
  EXPECT_EQ(rms_errors(comparands({}, {}, {})).ratio, 1);
}

TEST(rms, counts_what_is_finite_everywhere) {
  const std::vector<double> golden{1, nan, 1, 1, 1e300}, reference{1.5, 1, nan, 1, 1},
      target{3, 1, 1, infinity, 1};
  const RmsErrors rms = rms_errors(comparands(golden, reference, target, DType::f32));
  EXPECT_EQ(rms.count, 1);
  EXPECT_EQ(rms.target, 2);
  EXPECT_EQ(rms.reference, 0.5);
}

TEST(rms, squares_neither_overflow_nor_vanish) {
  const std::vector<double> zero{0, 0}, huge{3e300, 3e300}, tiny{3e-300, 3e-300};
  const RmsErrors rms = rms_errors(comparands(zero, tiny, huge));
  EXPECT_EQ(rms.target, 3e300);
  EXPECT_EQ(rms.reference, 3e-300);
}

TEST(quantiles, interpolate_between_order_statistics) {
  const std::vector<double> sample{4, 1, 3, 2, 5};
  EXPECT_EQ(quantiles(sample, std::vector<double>{0, 0.25, 0.5, 0.875, 1}),
            (std::vector<double>{1, 2, 3, 4.5, 5}));
  EXPECT_EQ(quantiles({7}, std::vector<double>{0.9}), (std::vector<double>{7}));
  EXPECT_EQ(quantiles({1, infinity}, std::vector<double>{0}), (std::vector<double>{1}));
  EXPECT_TRUE(std::isnan(quantiles({}, std::vector<double>{0.5})[0]));
}

} // namespace
} // namespace assay
