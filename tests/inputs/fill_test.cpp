#include "harness/base/hash.h"
#include "harness/inputs/element.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/kinds.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace assay {
namespace {

using Kind = DistributionKind;
using Shape = std::vector<std::int64_t>;
constexpr DType float_types[] = {DType::f64,  DType::f32,    DType::f16,
                                 DType::bf16, DType::f8e4m3, DType::f8e5m2};

TensorInput input_of(Kind kind, std::uint64_t seed = 1) {
  return {"x", {}, make_distribution(kind), seed, {}, {}, {}};
}
TensorInput input_of(Kind kind, std::initializer_list<double> values, std::uint64_t seed = 1) {
  return {"x", {}, make_distribution(kind, std::span(values.begin(), values.size())), seed, {}, {}, {}};
}
std::vector<double> values_of(const TensorInput& input, DType type, const Shape& shape,
                              bool specials = false) {
  Domain domain;
  domain.specials = specials;
  return widen(fill(input, type, shape, domain, {}));
}
bool is_real(Kind kind) { return fits(kind, Domain{}); }

TEST(Fill, elements_worked_out_by_hand) {
  // Seed 0: element 0 has the word 0x6627e8d5, element 8 the word 0xe169c58d (Random123's known answer); the
  // uniform is (2 * word + 1) / 2^33, so U[-1, 1) is (2 * word + 1) / 2^32 - 1.
  const auto u = values_of(input_of(Kind::uniform, {-1, 1}, 0), DType::f64, {16});
  EXPECT_EQ(u[0], 3427783083.0 / 4294967296.0 - 1);
  EXPECT_EQ(u[8], 7563610907.0 / 4294967296.0 - 1);
  const auto positive = values_of(input_of(Kind::all_positive, {2}, 0), DType::f32, {16});
  EXPECT_EQ(positive[0], static_cast<double>(static_cast<float>(1 + 3427783083.0 / 4294967296.0)));
  const auto zeros = values_of(input_of(Kind::signed_zeros, 0), DType::f32, {16});
  EXPECT_TRUE(std::signbit(zeros[0])); // both words are odd
  EXPECT_TRUE(std::signbit(zeros[8]));
  // Powers 2^-8 to 2^8: 17 of them; (word with its lowest bit cleared) * 17 >> 32 is 6 and 14; odd words are
  // negative.
  const auto powers = values_of(input_of(Kind::powers_of_two, 0), DType::f32, {16});
  EXPECT_EQ(powers[0], -0.25);
  EXPECT_EQ(powers[8], -64);
}

TEST(Fill, the_normal_is_the_inverse_of_the_normal_distribution) {
  for (std::uint64_t word = 0; word < (std::uint64_t{1} << 32); word += 1000003) {
    const auto w = static_cast<std::uint32_t>(word);
    const double u = (2.0 * static_cast<double>(w) + 1) / 8589934592.0;
    const double z = element::normal(w);
    // Phi(z) = erfc(-z / sqrt 2) / 2, taken on the side where it is small; dPhi = phi dz.
    const double tail = std::erfc(std::fabs(z) / std::sqrt(2.0)) / 2;
    const double wanted = std::min(u, 1 - u);
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    ASSERT_NEAR(tail, wanted, density * 3e-7 * std::max(std::fabs(z), 1e-3) + 1e-16) << w;
    ASSERT_EQ(z < 0, u < 0.5);
  }
  EXPECT_NEAR(element::normal(0), -6.337957754553789, 2e-6); // -Phi^-1(2^-33)
  EXPECT_NEAR(element::normal(0xffffffffu), 6.337957754553789, 2e-6);
  EXPECT_NEAR(element::normal(0xf3333333u), 1.6448536269514722, 1e-6); // the 95 % point
}

TEST(Fill, moments_of_the_normal_and_the_uniform) {
  const auto z = values_of(input_of(Kind::normal, {3, 2}, 42), DType::f64, {1000, 1000});
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (const double x : z) m1 += x / 1e6;
  for (const double x : z) {
    const double d = (x - m1) / 2;
    m2 += d * d / 1e6;
    m3 += d * d * d / 1e6;
    m4 += d * d * d * d / 1e6;
  }
  EXPECT_NEAR(m1, 3, 2 * 5e-3);      // 5 standard errors of 2 / 1000
  EXPECT_NEAR(m2, 1, 5 * 0.0014142); // sqrt(2) / 1000
  EXPECT_NEAR(m3, 0, 5 * 0.0024495); // sqrt(6) / 1000
  EXPECT_NEAR(m4, 3, 5 * 0.0097980); // sqrt(96) / 1000
  const auto u = values_of(input_of(Kind::uniform, {-1, 3}, 42), DType::f64, {1000000});
  double mean = 0, square = 0;
  for (const double x : u) mean += x / 1e6;
  for (const double x : u) square += (x - mean) * (x - mean) / 1e6;
  EXPECT_NEAR(mean, 1, 5 * 4 / std::sqrt(12.0) / 1000);
  EXPECT_NEAR(square, 16.0 / 12, 0.01);
}

TEST(Fill, every_kind_is_finite_in_every_type_unless_it_says_otherwise) {
  for (const DType type : float_types)
    for (const DistributionRule& rule : distribution_rules()) {
      if (!is_real(rule.kind)) continue;
      for (const Shape& shape :
           {Shape{3, 37}, Shape{1, 1}, Shape{0, 4}, Shape{4, 0}, Shape{}, Shape{2, 3, 5}})
        for (const double x : values_of(input_of(rule.kind), type, shape))
          ASSERT_TRUE(std::isfinite(x)) << rule.name << " in " << name_of(type);
    }
  TensorInput large = input_of(Kind::normal, {0, 0x1p127});
  for (const DType type : {DType::f16, DType::f8e4m3})
    for (const double x : values_of(large, type, {64})) ASSERT_TRUE(std::isfinite(x));
}

TEST(Fill, a_line_alone_is_the_same_as_in_the_whole) {
  // A patch paints one line by itself; with the base's own distribution it must change nothing.
  for (const DType type : {DType::f32, DType::f16})
    for (const DistributionRule& rule : distribution_rules()) {
      if (!is_real(rule.kind)) continue;
      for (const std::int64_t cols : {1, 7, 32, 100, 515}) {
        const TensorInput whole = input_of(rule.kind, 77);
        TensorInput patched = whole;
        for (const std::int64_t line : {0, 3, 4}) patched.patches.push_back({line, 1, 1, whole.distribution});
        const Tensor a = fill(whole, type, Shape{5, cols}, {}, {}),
                     b = fill(patched, type, Shape{5, cols}, {}, {});
        ASSERT_EQ(a.bytes, b.bytes) << rule.name << " " << cols;
      }
    }
}

TEST(Fill, patches_and_overrides_win_in_order) {
  TensorInput x = input_of(Kind::constant, {1});
  const auto constant = [](double v) { return make_distribution(Kind::constant, std::vector<double>{v}); };
  x.patches = {{0, 2, 2, constant(2)}, {2, 1, 1, constant(3)}};
  x.overrides = {{{2, 1}, to_bits(DType::f16, 9)}, {{3, 0}, 0x7e01}};
  const Tensor t = fill(x, DType::f16, Shape{4, 2}, {}, {});
  const auto v = widen(t);
  EXPECT_EQ(std::vector<double>(v.begin(), v.begin() + 6), (std::vector<double>{2, 2, 1, 1, 3, 9}));
  std::uint16_t bits = 0;
  std::memcpy(&bits, t.bytes.data() + 12, 2);
  EXPECT_EQ(bits, 0x7e01); // a NaN's payload survives
}

TEST(Fill, what_each_kind_promises) {
  const Shape shape{4, 50};
  const auto lines = [&](Kind kind, DType type = DType::f32) {
    const auto all = values_of(input_of(kind, 5), type, shape, true);
    std::vector<std::vector<double>> result;
    for (std::size_t r = 0; r < 4; ++r)
      result.emplace_back(all.begin() + static_cast<long>(50 * r),
                          all.begin() + static_cast<long>(50 * (r + 1)));
    return result;
  };
  for (const auto& line : lines(Kind::zero)) EXPECT_EQ(line, std::vector<double>(50, 0.0));
  std::set<double> distinct;
  for (const auto& line : lines(Kind::equal)) {
    EXPECT_EQ(line, std::vector<double>(50, line[0]));
    distinct.insert(line[0]);
  }
  EXPECT_EQ(distinct.size(), 4u);
  for (const auto& line : lines(Kind::alternating))
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(line[i], i % 2 == 0 ? 1 : -1);
  for (const auto& line : lines(Kind::one_hot)) {
    EXPECT_EQ(std::ranges::count(line, 1.0), 1);
    EXPECT_EQ(line[25], 1); // 0.5 * 49 rounds to 25
  }
  for (const auto& line : lines(Kind::ramp)) {
    EXPECT_EQ(line.front(), -1);
    EXPECT_EQ(line.back(), 1);
    EXPECT_TRUE(std::ranges::is_sorted(line));
  }
  EXPECT_EQ(lines(Kind::index_coded)[1][3], 54); // element 53
  EXPECT_EQ(lines(Kind::index_coded, DType::f8e4m3)[1][3], 54 % 16);
  for (const auto& line : lines(Kind::sorted_ascending)) EXPECT_TRUE(std::ranges::is_sorted(line));
  for (const auto& line : lines(Kind::sorted_descending))
    EXPECT_TRUE(std::ranges::is_sorted(line, std::greater<>()));
  for (const auto& line : lines(Kind::all_negative)) EXPECT_LT(std::ranges::max(line), -0.49);
  for (const auto& line : lines(Kind::all_positive)) EXPECT_GT(std::ranges::min(line), 0.49);
  for (const auto& line : lines(Kind::cancelling_pairs)) {
    for (std::size_t i = 0; i < 50; i += 2) EXPECT_EQ(line[i], -line[i + 1]);
  }
  for (const auto& line : lines(Kind::swamping)) {
    EXPECT_EQ(std::ranges::count(line, 1.0), 49);
    EXPECT_EQ(line[25], 16777216);
  }
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3}) {
    const Format& format = format_of(type);
    for (const auto& line : lines(Kind::subnormal, type))
      for (const double x : line) {
        EXPECT_LT(std::fabs(x), format.min_normal);
        EXPECT_GE(std::fabs(x), format.min_subnormal);
      }
    for (const auto& line : lines(Kind::largest, type))
      for (const double x : line)
        EXPECT_GE(std::fabs(x), format.largest * (type == DType::f8e4m3 ? 0.7 : 0.97));
  }
  for (const auto& line : lines(Kind::half_integers)) {
    EXPECT_EQ(line[0], 127);
    for (std::size_t i = 1; i < 50; ++i) EXPECT_EQ(std::fabs(line[i]) - std::floor(std::fabs(line[i])), 0.5);
  }
  for (const auto& line :
       lines(Kind::ties)) // float32 has room for ties of e4m3: half way between two of its values
    for (const double x : line) {
      int exponent = 0;
      const double scaled = std::frexp(x, &exponent) * 16; // 8 to 16 in steps of an e4m3 significand
      EXPECT_EQ(std::fabs(scaled) - std::floor(std::fabs(scaled)), 0.5);
    }
  int exact = 0, below_normal = 0;
  for (const auto& line : lines(Kind::beside_ties))
    for (const double x : line) {
      const double step = std::max(std::ldexp(1.0, std::ilogb(x)), 0x1p-6) / 8; // between neighbours in E4M3
      const double off = std::fabs(x) / step - std::floor(std::fabs(x) / step) - 0.5;
      EXPECT_LE(std::fabs(off) * step, std::ldexp(1.0, std::ilogb(1.001 * x) - 23)) << x; // a unit of float32
      EXPECT_LE(std::fabs(x), 496);                                                       // the tie above 480
      exact += off == 0;
      below_normal += std::fabs(x) < 0x1p-6;
    }
  EXPECT_GT(exact, 0);
  EXPECT_GT(below_normal, 0);
  int nan = 0, positive = 0, negative = 0;
  const auto special = values_of(input_of(Kind::specials, {0.3, 1}), DType::f32, {1000}, true);
  for (const double x : special) {
    nan += std::isnan(x);
    positive += x == HUGE_VAL;
    negative += x == -HUGE_VAL;
  }
  EXPECT_NEAR(nan, 100, 45);
  EXPECT_NEAR(positive, 100, 45);
  EXPECT_NEAR(negative, 100, 45);
  const auto sparse = values_of(input_of(Kind::sparse, {0.2, 1}), DType::f32, {1000});
  EXPECT_NEAR(static_cast<double>(std::ranges::count(sparse, 0.0)), 800, 60);
  const auto spread = values_of(input_of(Kind::wide), DType::f32, {1000});
  EXPECT_LT(std::ranges::min(spread, {}, [](double x) { return std::fabs(x); }), 1e-3);
}

TEST(Fill, the_running_sum_is_cancelled_again_and_again) {
  const auto x = values_of(input_of(Kind::cancelling_sum, 3), DType::f32, {1, 4000});
  double sum = 0;
  int small = 0;
  for (const double v : x) {
    sum += v;
    small += std::fabs(sum) < 0.01;
  }
  EXPECT_GT(small, 800); // a quarter of the places
}

TEST(Fill, every_bit_is_pinned) {
  // The same case must give the same bits on every machine and in every version: one hash over every kind and
  // type.
  std::string bytes;
  for (const DType type : float_types)
    for (const DistributionRule& rule : distribution_rules()) {
      Domain domain;
      domain.specials = true;
      if (!fits(rule.kind, domain)) continue;
      const Tensor t = fill(input_of(rule.kind, 123456789), type, Shape{3, 101}, domain, {});
      bytes.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    }
  EXPECT_EQ(content_hash(bytes), "6f05bdccad414b024ec15757ccadc634");
}

} // namespace
} // namespace assay
