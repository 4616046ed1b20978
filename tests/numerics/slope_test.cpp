#include "harness/numerics/slope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

// Published tables of Student's t, 0.995 and others.
TEST(student_t, table) {
  EXPECT_NEAR(student_t_quantile(0.995, 1), 63.6567, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.995, 3), 5.8409, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.995, 10), 3.1693, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.995, 38), 2.7116, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.0423, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.995, 1e6), 2.5758, 1e-4);
  EXPECT_NEAR(student_t_quantile(0.75, 1), 1, 1e-9); // Cauchy: tan(pi/4)
  EXPECT_NEAR(student_t_quantile(0.5, 7), 0, 1e-9);
}

TEST(growth, an_exact_power_law) {
  std::vector<GrowthPoint> points;
  for (const double length : {16.0, 64.0, 256.0, 1024.0, 4096.0})
    points.push_back({length, 3e-8 * std::pow(length, 1.5)});
  const Growth growth = fit_growth(points);
  EXPECT_TRUE(growth.valid);
  EXPECT_EQ(growth.lengths, 5);
  EXPECT_NEAR(growth.slope, 1.5, 1e-12);
  EXPECT_NEAR(growth.half_width, 0, 1e-12);
}

// x = 0, 1, 2, 3, 4 (length e^x), y = x but for the middle, 1 higher: slope 1 (the middle has no lever),
// residuals {-1/5, -1/5, 4/5, -1/5, -1/5}: sum of squares 4/5, s^2 = 4/15, sum of (x - 2)^2 = 10, se =
// sqrt(4/150).
TEST(growth, standard_error_by_hand) {
  std::vector<GrowthPoint> points;
  for (int x = 0; x < 5; ++x) points.push_back({std::exp(x), std::exp(x == 2 ? 3 : x)});
  const Growth growth = fit_growth(points);
  EXPECT_NEAR(growth.slope, 1, 1e-12);
  EXPECT_NEAR(growth.standard_error, std::sqrt(4.0 / 150), 1e-12);
  EXPECT_NEAR(growth.half_width, 5.840909 * std::sqrt(4.0 / 150), 1e-6);
}

TEST(growth, needs_five_lengths_with_an_error) {
  std::vector<GrowthPoint> points;
  for (const double length : {16.0, 64.0, 256.0, 1024.0})
    points.insert(points.end(), 8, {length, 1e-7 * length});
  points.push_back({4096, 0});
  points.push_back({4096, std::numeric_limits<double>::quiet_NaN()});
  points.push_back({8192, std::numeric_limits<double>::infinity()});
  EXPECT_FALSE(fit_growth(points).valid);
  EXPECT_EQ(fit_growth(points).points, 32);
  points.push_back({4096, 1e-4});
  EXPECT_TRUE(fit_growth(points).valid);
  EXPECT_FALSE(fit_growth({}).valid);
}

TEST(growth, steeper_by_more_than_a_quarter_outside_the_interval) {
  const auto fit = [](double slope, double standard_error) {
    return Growth{.valid = true,
                  .points = 40,
                  .lengths = 5,
                  .slope = slope,
                  .standard_error = standard_error,
                  .half_width = 0};
  };
  EXPECT_FALSE(grows_faster(fit(1.25, 0), fit(1, 0)));
  EXPECT_TRUE(grows_faster(fit(1.26, 0), fit(1, 0)));
  // The interval of the difference: 2.7116 * hypot(0.03, 0.04) = 0.13558.
  EXPECT_FALSE(grows_faster(fit(1.385, 0.03), fit(1, 0.04)));
  EXPECT_TRUE(grows_faster(fit(1.386, 0.03), fit(1, 0.04)));
  EXPECT_FALSE(grows_faster(fit(1, 0), fit(2, 0)));
  EXPECT_FALSE(grows_faster(Growth{}, fit(1, 0)));
}

} // namespace
} // namespace assay
