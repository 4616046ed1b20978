// What wastes neighbours is found, nothing else is blamed, and a burst draws it (nearly) no more.
#include "harness/inputs/draw.h"
#include "harness/inputs/kinds.h"
#include "harness/screen/burst_batch.h"
#include "tests/screen/screen_fixture.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>

namespace assay {
namespace {

using testing::ScreenedKernel;
using testing::value_of;

// Of a thousand neighbours that have each of these pieces by its chance.
Waste learnt(std::initializer_list<std::pair<Piece, double>> chances,
             const std::function<bool(const std::vector<Piece>&, Rng&)>& is_wasted) {
  Rng rng(1);
  Waste waste;
  for (int i = 0; i < 1000; ++i) {
    std::vector<Piece> pieces;
    for (const auto& [piece, chance] : chances)
      if (rng.chance(chance)) pieces.push_back(piece);
    waste.add(pieces, is_wasted(pieces, rng));
  }
  return waste;
}

bool has(const std::vector<Piece>& pieces, Piece piece) {
  return std::ranges::find(pieces, piece) != pieces.end();
}

using Pieces = std::set<Piece>;

TEST(Waste, IsBlamedOnThePieceThatAllWastedOnesHaveAndNotOnWhatIsBesideIt) {
  const auto waste = learnt({{1, 0.75}, {2, 0.75}, {3, 0.01}, {4, 0.01}},
                            [](const auto& pieces, Rng&) { return has(pieces, 1) || has(pieces, 4); });
  EXPECT_EQ(waste.culprits(), (Pieces{1, 4}));
}

TEST(Waste, OfSeveralFrequentPiecesIsBlamedOnEach) {
  const auto waste = learnt({{1, 0.8}, {2, 0.8}, {3, 0.8}, {4, 0.8}}, [](const auto& pieces, Rng&) {
    return has(pieces, 1) || has(pieces, 2) || has(pieces, 3);
  });
  EXPECT_EQ(waste.culprits(), (Pieces{1, 2, 3}));
}

TEST(Waste, ThatComesOnlySometimesOrAlwaysIsNoPiecesFault) {
  EXPECT_EQ(learnt({{1, 0.5}, {2, 0.1}},
                   [](const auto& pieces, Rng& rng) { return has(pieces, 1) && rng.chance(0.5); })
                .culprits(),
            Pieces{});
  EXPECT_EQ(learnt({{1, 0.5}, {2, 0.1}}, [](const auto&, Rng& rng) { return rng.chance(0.95); }).culprits(),
            Pieces{});
  EXPECT_EQ(learnt({{1, 0.5}, {2, 0.1}}, [](const auto&, Rng&) { return true; }).culprits(), Pieces{});
  EXPECT_EQ(learnt({{1, 1}, {2, 0.1}}, [](const auto&, Rng&) { return true; }).culprits(), Pieces{});
}

TEST(Waste, TakesThreeOfAPiece) {
  Waste waste;
  const Piece other[] = {1}, one[] = {2};
  for (int i = 0; i < 100; ++i) waste.add(other, false);
  for (int seen = 0; seen < 3; ++seen) {
    EXPECT_EQ(waste.culprits(), Pieces{});
    waste.add(one, true);
  }
  EXPECT_EQ(waste.culprits(), Pieces{2});
}

// A burst without a device: parts of 192 neighbours, each part drawn before the last one is known.
struct Course {
  Burst burst;
  std::vector<Case> cases;                  // as they were drawn
  std::uint64_t drawn = 0, wasted_late = 0; // from the fourth part on
  bool ended = false;
};

Course course_of(const Case& parent, const CaseSpace& space,
                 const std::function<bool(const Case&)>& is_wasted) {
  constexpr std::uint64_t part = 192, parts = 20;
  Course course{Burst(Neighbours(parent, space, 1, [](auto, const auto&) { return true; }), 1), {}};
  const auto draw = [&] {
    for (std::uint64_t i = 0; i < part; ++i)
      course.cases.push_back(course.burst.neighbours().make(course.drawn++));
  };
  draw();
  for (std::uint64_t taken = 0; taken < parts && !course.ended; ++taken) {
    draw();
    for (std::uint64_t number = taken * part; number < (taken + 1) * part; ++number) {
      ScreenedCase screened{.number = number, .memory = {}, .record = {}};
      screened.record.reasons = is_wasted(course.cases[number]) ? screen::overflow : 0;
      course.wasted_late += taken > 2 && screened.is_wasted();
      course.burst.add(screened);
    }
    course.ended = !course.burst.learn(course.drawn);
  }
  return course;
}

void expect_the_same_again(const Course& course) {
  for (std::uint64_t number = 0; number < course.drawn; ++number)
    EXPECT_EQ(course.burst.case_of({.number = number, .memory = {}, .record = {}}), course.cases[number]);
}

class BurstWaste : public ::testing::Test {
 protected:
  BurstWaste()
      : screened(ASSAY_KERNELS "/rmsnorm/kernel.toml", 64),
        space(screened.space(DType::bf16, Pass::forward, {{"rows", 3}, {"cols", 16}})),
        plain(screened.plain(space, Pass::forward)), huge(plain) {
    huge.inputs[0].distribution = make_distribution(DistributionKind::largest);
  }
  ScreenedKernel screened;
  CaseSpace space;
  Case plain, huge;
};

TEST_F(BurstWaste, ByTheParentsOwnValuesEndsWithTheFirstParts) {
  const Course of_huge = course_of(huge, space, [&](const Case& neighbour) {
    return neighbour.inputs[0].distribution == huge.inputs[0].distribution;
  });
  EXPECT_FALSE(of_huge.ended);
  const double late = 17 * 192, share = 1.0 / Neighbours::with_all;
  EXPECT_GT(of_huge.wasted_late, 0u); // the search is not blind there
  EXPECT_LT(static_cast<double>(of_huge.wasted_late), late * share + 5 * std::sqrt(late * share)); // 5 sigma
  expect_the_same_again(of_huge);
}

TEST_F(BurstWaste, WhateverIsDrawnEndsTheBurst) {
  const Course all = course_of(plain, space, [](const Case&) { return true; });
  EXPECT_TRUE(all.ended);
  EXPECT_EQ(all.burst.screened(), 192u);
  expect_the_same_again(all);
}

TEST_F(BurstWaste, IsNoneAndTheNeighboursAreThoseOfTheParent) {
  const Course none = course_of(plain, space, [](const Case&) { return false; });
  const Neighbours untouched(plain, space, 1, [](auto, const auto&) { return true; });
  for (std::uint64_t k = 0; k < none.drawn; ++k) EXPECT_EQ(none.cases[k], untouched.make(k));
}

TEST_F(BurstWaste, IsNoFaultBesideAnOverflow) {
  ScreenedCase each;
  each.record.reasons = screen::overflow;
  EXPECT_TRUE(each.is_wasted());
  each.record.reasons = screen::overflow | screen::gate_invalid;
  EXPECT_TRUE(each.is_wasted());
  each.record.reasons = screen::bias_close;
  EXPECT_TRUE(each.is_wasted());
  for (const std::uint32_t reasons :
       {0u, +screen::gate_invalid, screen::overflow | screen::misplaced,
        screen::bias_close | screen::gate_close, screen::overflow | screen::mismatch}) {
    each.record.reasons = reasons;
    EXPECT_FALSE(each.is_wasted());
  }
  each.record.reasons = screen::overflow;
  each.memory.flags = memory_flag::band;
  EXPECT_FALSE(each.is_wasted());
}

// On the device: two waves before anything is known, then one neighbour in 16 with all pieces, and what a
// plain parent's neighbours are wasted, and as much again, since pieces beside a huge one are learnt later.
TEST_F(BurstWaste, OfAHugeParentIsHardlyMoreThanOfAPlainOne) {
  constexpr std::uint64_t count = 1023, first = 2 * 64;
  const Burst of_plain = screened.burst(plain, space, count), of_huge = screened.burst(huge, space, count);
  ASSERT_TRUE(of_huge.parent().has_value());
  EXPECT_TRUE(of_huge.parent()->is_wasted()) << reasons_text(*of_huge.parent());
  EXPECT_EQ(of_huge.screened(), count);
  const double late = count - first, share = 1.0 / Neighbours::with_all;
  EXPECT_LT(static_cast<double>(of_huge.wasted()),
            first + late * share + 5 * std::sqrt(late * share) + 2 * static_cast<double>(of_plain.wasted()));
  for (const ScreenedCase& each : testing::all_of(of_huge)) {
    const Case test_case = of_huge.case_of(each);
    EXPECT_TRUE(check_case(test_case, space).has_value());
    for (const ScreenedCase& again : value_of(screened.screen->repeat(test_case, 1)))
      EXPECT_EQ(again.pattern(), each.pattern()); // the very case
  }
}

// Every formula of this device's may overflow.
class AllWasted : public testing::CpuBatch {
 public:
  Result<BatchOutcome> collect() override {
    ASSAY_TRY(BatchOutcome outcome, CpuBatch::collect());
    std::vector<std::byte>& records = outcome.results[judge_results];
    for (std::size_t at = 0; at < records.size(); at += sizeof(screen::Record)) {
      const std::uint32_t reasons = screen::overflow;
      std::memcpy(&records[at + offsetof(screen::Record, reasons)], &reasons, sizeof reasons);
    }
    return outcome;
  }
};

TEST(WasteOnADevice, OfAllNeighboursEndsTheBurstEarly) {
  AllWasted device;
  const auto kernel = value_of(Kernel::load(ASSAY_KERNELS "/relu/kernel.toml", device));
  const auto screen = Screen::create(*kernel, {.wave_cases = 64});
  const Case parent = value_of(repair(Case{}, kernel->space()));
  constexpr std::uint64_t most = 4095;
  const Burst burst =
      value_of(screen->burst(parent, kernel->space(), {.seed = 1, .seconds = 1000, .most = most}));
  EXPECT_EQ(burst.wasted(), burst.screened());
  EXPECT_GE(burst.screened(), 64u);
  EXPECT_LE(burst.screened(), 6 * 64u); // two parts until it is known, and the one that runs meanwhile
}

} // namespace
} // namespace assay
