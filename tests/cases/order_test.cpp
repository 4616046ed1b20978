#include "harness/cases/order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay {
namespace {

Case base() {
  Case c;
  c.manifest = "k";
  c.dims = {{"rows", 4}, {"cols", 8}};
  c.params = {{"eps", 1e-6}};
  c.inputs = {{"x", {}, make_distribution(DistributionKind::normal), 7, {}, {}, {}}};
  return c;
}

template <class Change> Case changed(Change change) {
  Case c = base();
  change(c);
  return c;
}

TEST(Order, what_makes_a_case_simpler) {
  const Case b = base();
  const auto is_simpler = [&](auto change) { return simpler(changed(change), b); };
  EXPECT_TRUE(is_simpler([](Case& c) { c.dims[0].second = 3; }));
  EXPECT_TRUE(is_simpler([](Case& c) { c.dims = {{"rows", 5}, {"cols", 6}}; }));
  EXPECT_TRUE(
      is_simpler([](Case& c) { c.inputs[0].distribution = make_distribution(DistributionKind::zero); }));
  EXPECT_TRUE(
      is_simpler([](Case& c) { c.inputs[0].distribution = make_distribution(DistributionKind::uniform); }));
  EXPECT_TRUE(is_simpler([](Case& c) { c.inputs[0].seed = 0; }));
  EXPECT_TRUE(is_simpler([](Case& c) { // generated values cost more than a few written ones
    c.inputs[0].distribution = make_distribution(DistributionKind::zero);
    for (int i = 0; i < 4; ++i) c.inputs[0].overrides.push_back({{0, i}, 0x3f800000});
  }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.dims[0].second = 5; }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.pass = Pass::backward; }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.dtype = DType::f16; }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.inputs[0].overrides.push_back({{0, 0}, 0}); }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.inputs[0].layout.strides = {9, 1}; }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.inputs[0].patches.push_back({0, 1, 1, {}}); }));
  EXPECT_FALSE(is_simpler([](Case& c) { c.schedule_seed = 12; }));
}

TEST(Order, size_outweighs_everything_else) {
  const Case large =
      changed([](Case& c) { c.inputs[0].distribution = make_distribution(DistributionKind::zero); });
  const Case small = changed([](Case& c) {
    c.dims[1].second = 7;
    c.dtype = DType::bf16;
    c.inputs[0].layout.strides = {9, 1};
    c.inputs[0].distribution = make_distribution(DistributionKind::specials);
  });
  EXPECT_TRUE(simpler(small, large));
}

TEST(Order, fewer_digits_are_simpler) {
  const auto with_value = [](std::uint64_t bits) {
    return changed([&](Case& c) { c.inputs[0].overrides.push_back({{0, 0}, bits}); });
  };
  EXPECT_TRUE(simpler(with_value(0x42c80000), with_value(0x42c8cccd))); // 100 and 100.4
}

TEST(Order, it_is_a_strict_total_order_up_to_text) {
  std::vector<Case> cases;
  for (const std::int64_t rows : {0, 1, 4})
    for (const DType type : {DType::f32, DType::f16})
      for (const Pass pass : {Pass::forward, Pass::backward})
        for (const DistributionRule& rule : distribution_rules()) {
          if (static_cast<int>(rule.kind) % 5 != 0) continue;
          for (const std::uint64_t seed : {0, 3, 12}) {
            cases.push_back(changed([&](Case& c) {
              c.dims[0].second = rows;
              c.dtype = type;
              c.pass = pass;
              c.inputs[0].distribution = make_distribution(rule.kind);
              c.inputs[0].seed = seed;
            }));
          }
        }
  std::vector<CaseSize> sizes;
  for (const Case& c : cases) sizes.push_back(size_of(c));
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (std::size_t j = 0; j < cases.size(); ++j) {
      const bool less = sizes[i] < sizes[j], greater = sizes[j] < sizes[i];
      ASSERT_EQ(int{less} + int{greater} + int{to_text(cases[i]) == to_text(cases[j])}, 1)
          << to_text(cases[i]);
    }
  std::vector<CaseSize> ascending =
      sizes; // transitive: sorting and checking neighbours against all later ones
  std::ranges::sort(ascending);
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = i + 1; j < ascending.size(); ++j) ASSERT_TRUE(ascending[i] < ascending[j]);
}

TEST(Order, huge_dims_saturate) {
  const Case huge =
      changed([](Case& c) { c.dims = {{"a", std::int64_t{1} << 40}, {"b", std::int64_t{1} << 40}}; });
  const Case large =
      changed([](Case& c) { c.dims = {{"a", std::int64_t{1} << 20}, {"b", std::int64_t{1} << 20}}; });
  EXPECT_TRUE(simpler(large, huge));
}

} // namespace
} // namespace assay
