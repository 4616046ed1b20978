#include "harness/cases/order.h"
#include "harness/inputs/fill.h"
#include "harness/inputs/legal.h"
#include "harness/numerics/bulk.h"
#include "spaces.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay {
namespace {

constexpr int most_steps = 3000;

template <class Keep> Case minimise(Case c, const CaseSpace& space, Keep keep) {
  for (int step = 0; step < most_steps; ++step) {
    bool better = false;
    for (int axis = 0; axis < axis_count && !better; ++axis)
      for (Case& candidate : simplifications(c, space, static_cast<Axis>(axis)))
        if (keep(candidate)) {
          c = std::move(candidate);
          better = true;
          break;
        }
    if (!better) return c;
  }
  ADD_FAILURE() << "does not end";
  return c;
}

TEST(Simplify, every_candidate_is_legal_and_simpler) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(1);
    for (int i = 0; i < 60; ++i) {
      const Case c = draw_case(space, rng);
      for (int axis = 0; axis < axis_count; ++axis)
        for (const Case& candidate : simplifications(c, space, static_cast<Axis>(axis))) {
          ASSERT_TRUE(check_case(candidate, space).has_value()) << to_text(candidate);
          ASSERT_TRUE(simpler(candidate, c)) << axis << "\n" << to_text(c) << to_text(candidate);
        }
    }
  }
}

TEST(Simplify, where_everything_fails_the_simplest_case_is_reached) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(2);
    for (int i = 0; i < 5; ++i) {
      const Case c = minimise(draw_case(space, rng), space, [](const Case&) { return true; });
      for (std::size_t d = 0; d < space.dims.size(); ++d)
        EXPECT_LE(c.dims[d].second, std::max<std::int64_t>(space.dims[d].min, 1)) << to_text(c);
      EXPECT_EQ(c.pass, Pass::forward);
      EXPECT_EQ(c.dtype, space.dtypes.front());
      for (const TensorInput& input : c.inputs) {
        EXPECT_TRUE(input.distribution.kind == "zero" || input.distribution.kind == "constant") << to_text(c);
        EXPECT_TRUE(input.patches.empty() && input.overrides.empty() && input.layout == Layout{});
        EXPECT_EQ(input.seed, 0u);
      }
    }
  }
}

// What a softmax without maximum subtraction shows: some element above 88.8.
TEST(Simplify, one_large_logit_is_all_that_is_left) {
  CaseSpace space = test::norm_space();
  Rng rng(3);
  const auto overflows = [&](const Case& c) {
    const TensorInput& x = c.inputs[0];
    const auto shape = shape_of(space.inputs[0], c.dims);
    for (const double v : widen(fill(x, c.dtype, *shape, space.inputs[0].domain, c.dims)))
      if (v > 88.8) return true;
    return false;
  };
  int tried = 0;
  for (int i = 0; i < 400 && tried < 6; ++i) {
    const Case c = draw_case(space, rng);
    if (!overflows(c)) continue;
    ++tried;
    const Case least = minimise(c, space, overflows);
    EXPECT_EQ(least.dims[0].second, 1) << to_text(least);
    EXPECT_EQ(least.dims[1].second, 1) << to_text(least);
    EXPECT_EQ(least.inputs[1].distribution.kind, "zero");
    EXPECT_EQ(least.inputs[0].distribution.kind, "constant") << to_text(least);
    EXPECT_TRUE(least.inputs[0].overrides.empty()) << to_text(least);
    EXPECT_LE(to_text(least).size(), 320u) << to_text(least);
  }
  EXPECT_EQ(tried, 6);
}

// A fault that needs a column past a tile and two elements in different rows.
// A mean over 4,096 elements that seeds may share: unseeded values must all be there, random ones need a
// 16th.
TEST(Simplify, what_seeds_can_pool_is_drawn_anew_at_a_smaller_size) {
  const CaseSpace space = test::norm_space();
  Rng rng(3);
  Case c = draw_case(space, rng);
  c.pass = Pass::forward;
  std::erase_if(c.inputs, [](const TensorInput& input) { return input.tensor == "grad_y"; });
  c.dims = {{"rows", 1}, {"cols", 4100}};
  for (TensorInput& input : c.inputs) {
    input.patches.clear();
    input.overrides.clear();
    input.layout = {};
    input.distribution = make_distribution(DistributionKind::index_coded);
  }
  const Case least = minimise(c, space, [](const Case& candidate) {
    const bool seeded = candidate.inputs[0].distribution.kind == "normal";
    const bool drawn = seeded || candidate.inputs[0].distribution.kind == "index_coded";
    return drawn && candidate.dims[0].second * candidate.dims[1].second >= (seeded ? 256 : 4096);
  });
  EXPECT_EQ(least.inputs[0].distribution.kind, "normal");
  EXPECT_EQ(least.dims[0].second * least.dims[1].second, 256);
}

TEST(Simplify, places_survive_where_they_matter) {
  CaseSpace space = test::norm_space();
  Case c = *repair(Case{}, space);
  c.dims = {{"rows", 40}, {"cols", 100}};
  c.dtype = DType::bf16;
  c.schedule_seed = 12345;
  c.inputs[0].seed = 99;
  c = *repair(c, space);
  const auto fails = [&](const Case& candidate) {
    const auto shape = shape_of(space.inputs[0], candidate.dims);
    const auto x = widen(fill(candidate.inputs[0], candidate.dtype, *shape, {}, candidate.dims));
    const auto cols = static_cast<std::size_t>((*shape)[1]);
    return (*shape)[0] >= 2 && cols > 32 && x[32] != 0 && x[cols + 1] != 0;
  };
  ASSERT_TRUE(fails(c));
  const Case least = minimise(c, space, fails);
  EXPECT_EQ(least.dims, (Dims{{"rows", 2}, {"cols", 33}}));
  EXPECT_EQ(least.dtype, DType::f32);
  EXPECT_EQ(least.inputs[0].seed, 0u);
  const bool constant = least.inputs[0].distribution.kind == "constant" && least.inputs[0].overrides.empty();
  EXPECT_TRUE(constant || least.inputs[0].overrides.size() == 2) << to_text(least);
}

} // namespace
} // namespace assay
