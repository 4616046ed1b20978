#include "harness/numerics/double_double.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <random>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

class Exact { // 2,200 bits: sums and products of double-doubles of moderate exponents are exact
 public:
  explicit Exact(DoubleDouble x) {
    mpfr_init2(value_, 2200);
    mpfr_set_d(value_, x.high, MPFR_RNDN);
    mpfr_add_d(value_, value_, x.low, MPFR_RNDN);
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// |computed - exact| / |exact|, in units of 2^-106 (u^2).
double error_in_u2(DoubleDouble computed, Exact& exact) {
  Exact difference(computed);
  mpfr_sub(difference.get(), difference.get(), exact.get(), MPFR_RNDN);
  if (mpfr_zero_p(difference.get())) return 0;
  mpfr_div(difference.get(), difference.get(), exact.get(), MPFR_RNDN);
  return std::fabs(std::ldexp(mpfr_get_d(difference.get(), MPFR_RNDN), 106));
}

class Draw {
 public:
  DoubleDouble operator()() {
    const double high = std::ldexp(word(), static_cast<int>(random_() % 60) - 30);
    return two_sum(high, high * 0x1p-54 * word());
  }

 private:
  double word() { return static_cast<double>(static_cast<std::int64_t>(random_())) * 0x1p-63; }
  std::mt19937_64 random_{11};
};

TEST(double_double, exact_transformations_by_hand) {
  EXPECT_EQ(two_sum(1, 0x1p-60), DoubleDouble(1, 0x1p-60));
  EXPECT_EQ(two_sum(0x1p-60, 1), DoubleDouble(1, 0x1p-60));
  EXPECT_EQ(two_sum(1, -1), DoubleDouble(0, 0));
  // (1 + 2^-30)^2 = 1 + 2^-29 + 2^-60
  EXPECT_EQ(two_prod(1 + 0x1p-30, 1 + 0x1p-30), DoubleDouble(1 + 0x1p-29, 0x1p-60));
}

TEST(double_double, keeps_what_a_double_loses) {
  DoubleDouble sum;
  sum += 1e16;
  for (int i = 0; i < 10; ++i) sum += 0.5;
  sum += -1e16;
  EXPECT_EQ(to_double(sum), 5);
  EXPECT_EQ(to_double(DoubleDouble(1) / DoubleDouble(3) * DoubleDouble(3) - 1.0), 0);
}

TEST(double_double, stays_inside_the_published_bounds) {
  Draw draw;
  for (int i = 0; i < 20000; ++i) {
    const DoubleDouble a = draw(), b = draw();
    Exact x(a), y(b), z(0.0), plain(b.high);
    mpfr_add(z.get(), x.get(), y.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a + b, z), 3.125);
    mpfr_sub(z.get(), x.get(), y.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a - b, z), 3.125);
    mpfr_add(z.get(), x.get(), plain.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a + b.high, z), 2);
    mpfr_mul(z.get(), x.get(), y.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a * b, z), 5);
    mpfr_mul(z.get(), x.get(), plain.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a * b.high, z), 2);
    mpfr_div(z.get(), x.get(), y.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(a / b, z), 16);
    Exact positive(abs(a));
    mpfr_sqrt(z.get(), positive.get(), MPFR_RNDN);
    ASSERT_LE(error_in_u2(sqrt(abs(a)), z), 3.125);
  }
}

TEST(double_double, sum_of_doubles_against_mpfr) {
  Draw draw;
  DoubleDouble sum;
  Exact exact(0.0);
  double magnitudes = 0;
  for (int i = 0; i < 10000; ++i) {
    const double term = draw().high;
    sum += term;
    magnitudes += std::fabs(term);
    mpfr_add_d(exact.get(), exact.get(), term, MPFR_RNDN);
  }
  Exact difference(sum);
  mpfr_sub(difference.get(), difference.get(), exact.get(), MPFR_RNDN);
  EXPECT_LE(std::fabs(mpfr_get_d(difference.get(), MPFR_RNDN)), 10000 * 0x1p-105 * magnitudes);
}

TEST(double_double, infinities_and_nan_behave_as_in_double) {
  const DoubleDouble big(infinity), one(1), zero(0), largest(std::numeric_limits<double>::max());
  EXPECT_EQ((one + big), big);
  EXPECT_EQ((big + 1.0), big);
  EXPECT_EQ((big * 2.0), big);
  EXPECT_EQ((largest + largest), big);
  EXPECT_EQ((largest * largest), big);
  EXPECT_EQ((one / zero), big);
  EXPECT_EQ((one / big), zero);
  EXPECT_EQ(sqrt(big), big);
  EXPECT_EQ(sqrt(zero), zero);
  EXPECT_TRUE(std::isnan(to_double(big - big)));
  EXPECT_TRUE(std::isnan(to_double(zero * big)));
  EXPECT_TRUE(std::isnan(to_double(sqrt(-one))));
  EXPECT_TRUE(std::isnan(to_double(one + std::numeric_limits<double>::quiet_NaN())));
  EXPECT_EQ(abs(DoubleDouble(-1, 0x1p-60)), DoubleDouble(1, -0x1p-60));
}

TEST(double_double, compares_by_value) {
  EXPECT_LT(DoubleDouble(1, -0x1p-60), DoubleDouble(1));
  EXPECT_GT(DoubleDouble(1, 0x1p-60), DoubleDouble(1));
  EXPECT_FALSE(DoubleDouble(1) < DoubleDouble(1));
}

} // namespace
} // namespace assay
