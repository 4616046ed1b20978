// Neighbours: legal, different, made again from their number, and the same whether told in plain numbers or
// as a case.
#include "harness/inputs/legal.h"
#include "harness/inputs/neighbours.h"
#include "tests/inputs/spaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <set>

namespace assay {
namespace {

bool takes_any(std::size_t, const FillDistribution&) { return true; }

Case without_values(Case test_case) {
  for (TensorInput& input : test_case.inputs) {
    input.distribution = {};
    input.seed = 0;
    input.patches.clear();
    input.overrides.clear();
  }
  return test_case;
}

// Of the places in use, with floats told apart as bits are.
std::string bytes_of(const FillInput& fill) {
  std::string bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto add_distribution = [&](const FillDistribution& distribution) {
    add(distribution.kind);
    for (const double p : distribution.p) add(p);
  };
  add(fill.seed);
  add_distribution(fill.base);
  for (int i = 0; i < fill.patches; ++i) {
    add(fill.patch[i].first);
    add(fill.patch[i].step);
    add(fill.patch[i].count);
    add_distribution(fill.patch[i].distribution);
  }
  for (int i = 0; i < fill.overrides; ++i) {
    add(fill.one[i].index);
    add(fill.one[i].bits);
  }
  return bytes;
}

std::vector<std::int64_t> shape_in(const CaseSpace& space, const Case& test_case, std::size_t i) {
  const auto spec = std::ranges::find(space.inputs, test_case.inputs[i].tensor, &InputSpec::name);
  return *shape_of(*spec, test_case.dims);
}

TEST(Neighbours, AreLegalCasesOfTheSamePlanAndFillAsTheirCasesDo) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(7);
    std::size_t patched = 0, overridden = 0;
    for (int parents = 0; parents < 40; ++parents) {
      const Case parent = draw_case(space, rng);
      const Neighbours neighbours(parent, space, rng.next(), takes_any);
      std::vector<FillInput> fills(neighbours.inputs());
      for (std::uint64_t k = 0; k < 60; ++k) {
        const Case made = neighbours.make(k);
        EXPECT_EQ(without_values(made), without_values(parent));
        const auto legal = check_case(made, space);
        ASSERT_TRUE(legal.has_value()) << to_string(legal.error()) << "\n" << to_text(made);
        EXPECT_EQ(*repair(made, space), made);
        EXPECT_EQ(*parse_case(to_text(made), "made"), made);
        neighbours.draw(k, fills);
        for (std::size_t i = 0; i < fills.size(); ++i) {
          const auto again = to_fill_input(made.inputs[i], shape_in(space, made, i));
          ASSERT_TRUE(again.has_value());
          EXPECT_EQ(bytes_of(*again), bytes_of(fills[i])) << to_text(made);
          EXPECT_NE(made.inputs[i].seed, parent.inputs[i].seed);
          patched += made.inputs[i].patches.size();
          overridden += made.inputs[i].overrides.size();
        }
      }
    }
    EXPECT_GT(patched, 100u);
    EXPECT_GT(overridden, 50u);
  }
}

TEST(Neighbours, AreMadeAgainFromParentSeedAndNumber) {
  const CaseSpace space = test::norm_space();
  Rng rng(3);
  const Case parent = draw_case(space, rng);
  const Neighbours one(parent, space, 5, takes_any), same(parent, space, 5, takes_any),
      other(parent, space, 6, takes_any);
  EXPECT_EQ(one.make(9), same.make(9));
  EXPECT_NE(one.make(9), other.make(9));
  std::set<std::string> texts;
  for (std::uint64_t k = 0; k < 500; ++k) texts.insert(to_text(one.make(k)));
  EXPECT_EQ(texts.size(), 500u);
}

// Where the parent's values need no seed, its neighbours still differ.
TEST(Neighbours, OfAConstantAreNotAllTheSame) {
  const CaseSpace space = test::norm_space();
  Rng rng(3);
  Case parent = draw_case(space, rng);
  for (TensorInput& input : parent.inputs) {
    input.distribution = make_distribution(DistributionKind::constant);
    input.patches.clear();
    input.overrides.clear();
  }
  const Neighbours neighbours(parent, space, 5, takes_any);
  std::set<std::string> values;
  std::vector<FillInput> fills(neighbours.inputs());
  for (std::uint64_t k = 0; k < 200; ++k) {
    neighbours.draw(k, fills);
    std::string all;
    for (FillInput fill : fills) {
      const bool seeded = rule_of(fill.base.kind).seeded;
      if (!seeded && fill.patches == 0) fill.seed = 0;
      all += bytes_of(fill);
    }
    values.insert(all);
  }
  EXPECT_GT(values.size(), 190u);
}

// Sorted lines that the GPU cannot sort, patches and single elements beyond its places.
TEST(Neighbours, TakeNothingThatCannotBeFilled) {
  const CaseSpace space = test::norm_space();
  Rng rng(3);
  Case parent = draw_case(space, rng);
  const auto shape = shape_in(space, parent, 0);
  parent.inputs[0].distribution = make_distribution(DistributionKind::sorted_ascending);
  parent.inputs[0].patches.assign(4, {0, 1, 1, make_distribution(DistributionKind::normal)});
  parent.inputs[0].patches[1].distribution = parent.inputs[0].distribution;
  parent.inputs[0].overrides.assign(8, {std::vector<std::int64_t>(shape.size(), 0), 0});
  EXPECT_FALSE(to_fill_input(parent.inputs[0], shape).has_value());
  const auto sorted = [](const FillDistribution& distribution) {
    return distribution.kind == DistributionKind::sorted_ascending ||
           distribution.kind == DistributionKind::sorted_descending;
  };
  const Neighbours neighbours(parent, space, 1, [&](std::size_t input, const FillDistribution& distribution) {
    return input != 0 || !sorted(distribution);
  });
  std::vector<FillInput> fills(neighbours.inputs());
  for (std::uint64_t k = 0; k < 2000; ++k) {
    neighbours.draw(k, fills);
    EXPECT_FALSE(sorted(fills[0].base));
    for (int i = 0; i < fills[0].patches; ++i) EXPECT_FALSE(sorted(fills[0].patch[i].distribution));
    EXPECT_LE(fills[0].patches, fill_patches);
    EXPECT_LE(fills[0].overrides, fill_overrides);
  }
}

// All pieces of a hundred neighbours are avoided from the 100th on.
TEST(Neighbours, AvoidPiecesFromANumberOnAndAreTheSameBelowIt) {
  for (const CaseSpace& space : test::all_spaces()) {
    Rng rng(11);
    const Case parent = draw_case(space, rng);
    Neighbours neighbours(parent, space, 5, takes_any);
    const Neighbours as_before = neighbours;
    std::vector<FillInput> fills(neighbours.inputs());
    std::vector<Piece> pieces;
    std::set<Piece> avoided;
    for (std::uint64_t k = 0; k < 100; ++k) {
      neighbours.draw(k, fills);
      pieces_of(fills, pieces);
      avoided.insert(pieces.begin(), pieces.end());
    }
    for (const InputSpec& spec : space.inputs) { // the usual distributions stay
      Case usual = parent;
      const auto input = std::ranges::find(usual.inputs, spec.name, &TensorInput::tensor);
      if (input == usual.inputs.end()) continue;
      input->distribution = usual_distribution(spec.domain);
      input->patches.clear();
      input->overrides.clear();
      const auto i = static_cast<std::size_t>(input - usual.inputs.begin());
      std::vector<FillInput> one(usual.inputs.size());
      one[i] = *to_fill_input(*input, shape_in(space, usual, i));
      pieces_of(one, pieces);
      for (const Piece piece : pieces) avoided.erase(piece);
    }
    neighbours.avoid(100, avoided);
    constexpr std::uint64_t n = 4000;
    std::uint64_t having = 0;
    for (std::uint64_t k = 0; k < 100 + n; ++k) {
      const Case made = neighbours.make(k);
      if (k < 100) EXPECT_EQ(made, as_before.make(k));
      if (k < 300) EXPECT_TRUE(check_case(made, space).has_value()) << to_text(made);
      if (k < 100) continue;
      neighbours.draw(k, fills);
      pieces_of(fills, pieces);
      having += std::ranges::any_of(pieces, [&](Piece piece) { return avoided.contains(piece); });
    }
    const double share = 1.0 / Neighbours::with_all;
    EXPECT_LT(static_cast<double>(having), n * share + 5 * std::sqrt(n * share)); // 5 sigma

    const Neighbours with_one_call = neighbours;
    neighbours.avoid(100 + n, {});
    EXPECT_EQ(neighbours.make(50), as_before.make(50));
    EXPECT_EQ(neighbours.make(150), with_one_call.make(150));
  }
}

// One element of the parent's is out: its distribution, which makes the values beside that, goes too.
TEST(Neighbours, FillAnInputAsUsualWhereAnyPieceOfTheParentsIsOut) {
  const CaseSpace space = test::norm_space();
  Rng rng(3);
  Case parent = draw_case(space, rng);
  const auto shape = shape_in(space, parent, 0);
  TensorInput& input = parent.inputs[0];
  input.distribution = make_distribution(DistributionKind::normal, std::array{7.0, 3.3});
  input.patches.clear();
  input.overrides.assign(1, {std::vector<std::int64_t>(shape.size(), 0), 0x4049});
  std::vector<FillInput> own(parent.inputs.size());
  own[0].base = to_fill_input(input, shape)->base;
  std::vector<Piece> without, with;
  pieces_of(own, without);
  own[0] = *to_fill_input(input, shape);
  pieces_of(own, with);
  std::set<Piece> element;
  std::ranges::set_difference(with, without, std::inserter(element, element.end()));
  ASSERT_EQ(element.size(), 1u);
  Neighbours neighbours(parent, space, 5, takes_any);
  neighbours.avoid(0, element);
  constexpr std::uint64_t n = 4000;
  std::uint64_t as_parent = 0;
  for (std::uint64_t k = 0; k < n; ++k)
    as_parent += neighbours.make(k).inputs[0].distribution == input.distribution;
  const double share = 1.0 / Neighbours::with_all;
  EXPECT_GT(as_parent, 0u);
  EXPECT_LT(static_cast<double>(as_parent), n * share + 5 * std::sqrt(n * share)); // 5 sigma
}

} // namespace
} // namespace assay
