#include "harness/inputs/exact_math.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/kinds.h"
#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace assay {
namespace {

using Kind = DistributionKind;
using Shape = std::vector<std::int64_t>;

Domain domain_of(Domain::Kind kind, std::string limit = "") { return {kind, std::move(limit), false}; }

std::vector<double> values_of(Kind kind, DType type, const Shape& shape, const Domain& domain,
                              std::int64_t limit = 0, std::uint64_t seed = 1) {
  const TensorInput input{"x", {}, make_distribution(kind), seed, {}, {}, {}};
  const std::vector<std::pair<std::string, std::int64_t>> dims{{"limit", limit}};
  const Tensor tensor = fill(input, type, shape, domain, dims);
  const auto values = widen(tensor);
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + i * size, size);
    EXPECT_TRUE(is_legal_value(domain, type, limit, bits)) << values[i] << " in " << name_of(domain.kind);
  }
  return values;
}

TEST(DomainFill, every_kind_that_fits_gives_legal_values_only) {
  for (const auto& [kind, type] : {std::pair(Domain::Kind::index, DType::i32),
                                   {Domain::Kind::index, DType::i64},
                                   {Domain::Kind::target, DType::i32},
                                   {Domain::Kind::boolean, DType::u8},
                                   {Domain::Kind::code, DType::i8},
                                   {Domain::Kind::scale, DType::f32},
                                   {Domain::Kind::scale, DType::f16},
                                   {Domain::Kind::rotary, DType::f32},
                                   {Domain::Kind::quantizable, DType::bf16},
                                   {Domain::Kind::real, DType::f32}})
    for (const DistributionRule& rule : distribution_rules()) {
      const Domain domain = domain_of(kind, "limit");
      if (!fits(rule.kind, domain)) continue;
      for (const std::int64_t limit : {1, 2, 1000}) values_of(rule.kind, type, {5, 32}, domain, limit);
    }
}

TEST(DomainFill, indices_reach_their_edges) {
  const auto x = values_of(Kind::legal, DType::i32, {1000}, domain_of(Domain::Kind::index, "limit"), 500);
  std::map<double, int> counts;
  for (const double v : x) ++counts[v];
  EXPECT_GT(counts[0], 40); // a third of a quarter
  EXPECT_GT(counts[499], 40);
  EXPECT_GE(std::ranges::count_if(counts, [](const auto& c) { return c.second > 40; }),
            3); // the third is repeated
  EXPECT_GT(counts.size(), 300u);
  const auto t = values_of(Kind::legal, DType::i32, {1000}, domain_of(Domain::Kind::target, "limit"), 500);
  EXPECT_GT(std::ranges::count(t, -100.0), 30);
  EXPECT_EQ(std::ranges::count(x, -100.0), 0);
}

TEST(DomainFill, masks_have_whole_lines_of_each_kind) {
  const auto x = values_of(Kind::legal, DType::u8, {200, 20}, domain_of(Domain::Kind::boolean));
  int none = 0, all = 0, mixed = 0;
  for (std::size_t r = 0; r < 200; ++r) {
    const auto ones =
        std::count(x.begin() + static_cast<long>(20 * r), x.begin() + static_cast<long>(20 * r + 20), 1.0);
    none += ones == 0;
    all += ones == 20;
    mixed += ones > 1 && ones < 19;
  }
  EXPECT_GT(none, 3);
  EXPECT_GT(all, 3);
  EXPECT_GT(mixed, 100);
}

TEST(DomainFill, codes_never_are_the_symmetric_minimum) {
  const auto x = values_of(Kind::legal, DType::i8, {5000}, domain_of(Domain::Kind::code));
  EXPECT_EQ(std::ranges::min(x), -127);
  EXPECT_EQ(std::ranges::max(x), 127);
}

TEST(DomainFill, a_quantizable_row_of_tiny_values_is_zero) {
  TensorInput input{"x", {}, make_distribution(Kind::subnormal), 1, {}, {}, {}};
  input.patches.push_back({1, 1, 1, make_distribution(Kind::normal)});
  const auto x = widen(fill(input, DType::f32, Shape{3, 10}, domain_of(Domain::Kind::quantizable), {}));
  EXPECT_EQ(std::vector<double>(x.begin(), x.begin() + 10), std::vector<double>(10, 0.0));
  EXPECT_NE(x[10], 0);
  EXPECT_EQ(std::vector<double>(x.begin() + 20, x.end()), std::vector<double>(10, 0.0));
}

TEST(DomainFill, rotary_rows_are_those_of_a_real_cache) {
  const auto x = values_of(Kind::rotary, DType::f64, {50, 16}, domain_of(Domain::Kind::rotary)); // head_dim 8
  for (std::size_t p = 0; p < 50; ++p)
    for (std::size_t i = 0; i < 8; ++i) {
      const double angle = static_cast<double>(p) * std::pow(10000.0, -2.0 * static_cast<double>(i % 4) / 8);
      EXPECT_NEAR(x[16 * p + i], std::cos(angle), 1e-13);
      EXPECT_NEAR(x[16 * p + 8 + i], std::sin(angle), 1e-13);
    }
  const auto split = values_of(Kind::rotary_split, DType::f64, {50, 16}, domain_of(Domain::Kind::rotary));
  EXPECT_NE(split[16 + 0], split[16 + 4]);
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(split[i] * split[i] + split[8 + i] * split[8 + i], 1, 1e-14);
}

TEST(ExactMath, agrees_with_libm) {
  for (double x = -40; x < 40; x += 0.0371) EXPECT_NEAR(exact_exp2(x) / std::exp2(x), 1, 1e-15) << x;
  EXPECT_EQ(exact_exp2(10), 1024);
  EXPECT_EQ(exact_exp2(0), 1);
  for (double x = 0; x < 200000; x = x * 1.01 + 0.013) {
    const SinCos value = exact_sin_cos(x);
    EXPECT_NEAR(value.sin, std::sin(x), 1e-15) << x;
    EXPECT_NEAR(value.cos, std::cos(x), 1e-15) << x;
  }
}

} // namespace
} // namespace assay
