#include "harness/inputs/fill.h"
#include "harness/inputs/legal.h"
#include "harness/numerics/formats.h"
#include "spaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace assay {
namespace {

// Legal, within the budgets, a fixed point of repair, and the same after printing and parsing.
void expect_sound(const Case& c, const CaseSpace& space) {
  const auto checked = check_case(c, space);
  ASSERT_TRUE(checked.has_value()) << to_string(checked.error()) << "\n" << to_text(c);
  ASSERT_TRUE(within_budgets(c.dims, space)) << to_text(c);
  const auto back = parse_case(to_text(c), "a.case");
  ASSERT_TRUE(back.has_value()) << to_string(back.error()) << "\n" << to_text(c);
  ASSERT_EQ(*back, c) << to_text(c);
  const auto repaired = repair(c, space);
  ASSERT_TRUE(repaired.has_value());
  ASSERT_EQ(*repaired, c) << to_text(c) << to_text(*repaired);
}

TEST(Space, drawn_cases_are_sound_and_fill) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(1);
    for (int i = 0; i < 1000; ++i) {
      const Case c = draw_case(space, rng);
      expect_sound(c, space);
      if (i % 10 == 0)
        for (const TensorInput& input : c.inputs) {
          const auto spec = std::ranges::find(space.inputs, input.tensor, &InputSpec::name);
          const auto shape = shape_of(*spec, c.dims);
          fill(input, spec->dtype.value_or(c.dtype), *shape, spec->domain, c.dims);
        }
    }
  }
}

TEST(Space, ten_thousand_mutations_and_crossings_stay_legal) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(2);
    std::vector<Case> pool;
    for (int i = 0; i < 20; ++i) pool.push_back(draw_case(space, rng));
    for (int i = 0; i < 10000; ++i) {
      const Case& parent = pool[rng.below(pool.size())];
      Case child = i % 4 == 0 ? crossover(parent, pool[rng.below(pool.size())], space, rng)
                              : mutate(parent, space, rng);
      if (i % 4 != 0) {
        ASSERT_NE(child, parent);
      }
      if (i % 8 < 2)
        expect_sound(child, space);
      else
        ASSERT_TRUE(check_case(child, space).has_value() && within_budgets(child.dims, space))
            << to_text(child);
      pool[rng.below(pool.size())] = std::move(child);
    }
  }
}

TEST(Space, the_search_is_deterministic) {
  const CaseSpace space = test::norm_space();
  Rng a(9), b(9);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(draw_case(space, a), draw_case(space, b));
}

TEST(Space, mutations_reach_every_part_of_a_case) {
  const CaseSpace space = test::norm_space();
  Rng rng(4);
  Case parent = draw_case(space, rng);
  parent.pass = Pass::forward;
  parent = *repair(parent, space);
  std::set<std::string> changed;
  for (int i = 0; i < 3000; ++i) {
    const Case c = mutate(parent, space, rng);
    if (c.dims != parent.dims) changed.insert("dims");
    if (c.dtype != parent.dtype) changed.insert("dtype");
    if (c.pass != parent.pass) changed.insert("pass");
    if (c.schedule_seed != parent.schedule_seed) changed.insert("schedule");
    for (const TensorInput& input : c.inputs) {
      if (!input.patches.empty()) changed.insert("patches");
      if (!input.overrides.empty()) changed.insert("overrides");
      if (!input.layout.strides.empty()) changed.insert("strides");
      if (input.layout.offset != 0) changed.insert("offset");
      changed.insert(input.distribution.kind);
    }
  }
  for (const char* part : {"dims", "dtype", "pass", "schedule", "patches", "overrides", "strides", "offset"})
    EXPECT_TRUE(changed.contains(part)) << part;
  for (const DistributionRule& rule : distribution_rules())
    if (rule.kind < DistributionKind::legal) {
      EXPECT_TRUE(changed.contains(std::string(rule.name))) << rule.name;
    }
}

TEST(Space, a_case_of_another_kernel_is_repaired) {
  const auto spaces = test::all_spaces();
  Rng rng(5);
  for (const CaseSpace& from : spaces)
    for (const CaseSpace& to : spaces)
      for (int i = 0; i < 100; ++i) {
        const auto repaired = repair(draw_case(from, rng), to);
        ASSERT_TRUE(repaired.has_value());
        expect_sound(*repaired, to);
        EXPECT_EQ(repaired->manifest, to.manifest);
        EXPECT_EQ(repaired->tolerance, to.tolerance); // no looser one is smuggled in
      }
  expect_sound(*repair(Case{}, spaces[2]), spaces[2]);
}

TEST(Space, repair_keeps_what_it_can) {
  const CaseSpace space = test::norm_space();
  auto c = *parse_case(
      "assay-case 1\nkernel = k\ndtype = f64\npass = backward\n[dims]\ncols = 9\nrows = 0\ndepth = "
      "2\n[inputs]\n"
      "x = extreme_logits(magnitude=90) seed 5\nx lines 0..6 = zero()\nx[0,8] = 3\nx[0,9] = 3\nx[9] = 1\n"
      "weight = legal()\nghost = zero()\n",
      "a.case");
  const auto repaired = repair(c, space);
  ASSERT_TRUE(repaired.has_value());
  EXPECT_EQ(to_text(*repaired), R"(assay-case 1
kernel = kernels/rmsnorm/kernel.toml
dtype = f32
pass = backward
schedule = 0
expect = pass

[dims]
rows = 1
cols = 9

[params]
eps = 1e-06

[inputs]
x = extreme_logits(magnitude=90) seed 5
x lines 0..0 = zero()
x[0,8] = 3
weight = normal(mean=0, stddev=1)
grad_y = normal(mean=0, stddev=1) seed 3

[tolerance]
fudge = 2.5
atol = 0
reference_limit = 0.1
flush_subnormals = false
)");
}

TEST(Space, budgets_hold_and_an_impossible_one_is_told) {
  CaseSpace space = test::attention_space();
  Rng rng(6);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(within_budgets(draw_case(space, rng).dims, space, usual_share));
  space.budgets.push_back({"the threads of k", test::expression("heads + 4"), 1, 1});
  const std::string message = repair(Case{}, space).error().message;
  EXPECT_THAT(message, ::testing::HasSubstr("heads=2"));
  EXPECT_THAT(message, ::testing::EndsWith("the threads of k are 6, and a campaign's cases have at most 1"));
  space.budgets.back() = {"the threads of k", test::expression("1 / (heads - heads)"), 1, 1};
  EXPECT_THAT(repair(Case{}, space).error().message,
              ::testing::EndsWith(
                  "heads=2 q_len=1 kv_len=1 head_dim=8) what gives the threads of k divides by zero"));
}

TEST(Space, corner_cases_are_few_sound_and_start_small) {
  for (const CaseSpace& space : test::all_spaces()) {
    const std::vector<Case> cases = corner_cases(space);
    EXPECT_GT(cases.size(), 50u);
    EXPECT_LT(cases.size(), 700u) << space.manifest;
    std::set<std::string> kinds;
    for (const Case& c : cases) {
      expect_sound(c, space);
      for (const TensorInput& input : c.inputs) kinds.insert(input.distribution.kind);
    }
    EXPECT_EQ(cases, corner_cases(space));
    for (std::size_t i = 0; i < 20; ++i)
      for (const auto& [name, size] : cases[i].dims) EXPECT_LE(size, 65) << name;
    EXPECT_GE(kinds.size(), 28u);
  }
  std::set<std::int64_t> cols;
  for (const Case& c : corner_cases(test::norm_space())) cols.insert(c.dims[1].second);
  for (const std::int64_t edge : {1, 31, 32, 33, 255, 256, 257, 511, 512, 513, 5120})
    EXPECT_TRUE(cols.contains(edge)) << edge;
}

TEST(Space, the_sweep_has_a_nan_of_either_sign) {
  bool negative = false;
  for (const Case& c : corner_cases(test::norm_space()))
    for (const TensorInput& input : c.inputs)
      for (const ElementOverride& element : input.overrides) {
        const DType type = input.dtype.value_or(c.dtype);
        negative =
            negative || (std::isnan(from_bits(type, element.bits)) && (element.bits & sign_bit(type)) != 0);
      }
  EXPECT_TRUE(negative);
}

TEST(Space, a_nan_keeps_its_sign_in_another_type) {
  EXPECT_EQ(convert_bits(DType::f32, DType::bf16, 0xffc00000), 0xffc0u);
  EXPECT_EQ(convert_bits(DType::bf16, DType::f16, 0x7fc0), 0x7e00u);
  EXPECT_EQ(convert_bits(DType::f16, DType::f32, 0xfe00), 0xffc00000u);
}

TEST(Space, every_dim_is_taken_to_its_limit) {
  CaseSpace space = test::norm_space();
  space.dims[0].max = 300000;
  const auto at_limit = [](const Case& c) { return c.dims[0].second == 300000; };
  EXPECT_TRUE(std::ranges::any_of(corner_cases(space), at_limit));
}

TEST(Space, an_index_points_to_the_last_of_as_many_as_there_may_be) {
  const auto points_to_last = [](const Case& c) {
    return c.dims[1].second == 4096 && c.inputs[1].overrides.size() == 1 &&
           c.inputs[1].overrides[0].index == Shape{0} && c.inputs[1].overrides[0].bits == 4095;
  };
  EXPECT_TRUE(std::ranges::any_of(corner_cases(test::loss_space()), points_to_last));
}

TEST(Space, more_elements_are_tried_than_16_bits_count_though_along_no_dim) {
  const auto large = [](const Case& c) { // 16^4 = 2^16: of q, or of k and v
    const std::int64_t heads = c.dims[0].second * c.dims[1].second;
    return heads * std::max(c.dims[2].second, c.dims[3].second) * c.dims[4].second > 65536 &&
           std::ranges::all_of(c.dims, [](const auto& dim) { return dim.second <= 4096; });
  };
  CaseSpace space = test::attention_space();
  space.element_budget = 1 << 20;
  EXPECT_GE(std::ranges::count_if(corner_cases(space), large), 2);
}

TEST(Space, sizes_that_the_manifest_names_are_tried) {
  CaseSpace space = test::norm_space();
  space.written = {{}, {1536}};
  std::set<std::int64_t> cols;
  for (const Case& c : corner_cases(space)) cols.insert(c.dims[1].second);
  for (const std::int64_t size : {1535, 1536, 1537}) EXPECT_TRUE(cols.contains(size)) << size;
  Rng rng(1);
  int drawn = 0;
  for (int i = 0; i < 10000; ++i) drawn += draw_case(space, rng).dims[1].second == 1536;
  EXPECT_GT(drawn, 50);
}

TEST(Space, few_cases_take_the_whole_of_a_budget) {
  CaseSpace space = test::norm_space();
  space.dims[0].max = 70000;
  space.budgets.push_back({"the threads of k", test::expression("rows * 128"), 1 << 20, 1 << 24});
  const auto large = [](const Case& c) { return c.dims[0].second >= 65536; };
  EXPECT_TRUE(std::ranges::any_of(corner_cases(space), large));
  Rng rng(7);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(large(draw_case(space, rng)));
}

} // namespace
} // namespace assay
