// The parts of a campaign that need no worker.
#include "tests/end_to_end/program.h"
#include "tools/campaign_folder.h"
#include "tools/campaign_screen.h"
#include "tools/prune.h"
#include "tools/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double quiet = 1000;

TEST(Schedule, GivesEachKernelItsTurn) {
  Schedule schedule(3);
  const std::vector<Schedule::Claim> claims{{1, 0}, {1, 0}, {1, 0}};
  EXPECT_THAT(schedule.share(claims, 2, 1), ElementsAre(1, 1, 0));
  schedule.charge(0, 1, claims[0]);
  schedule.charge(1, 1, claims[1]);
  EXPECT_THAT(schedule.share(claims, 2, 1), ElementsAre(1, 0, 1));
}

TEST(Schedule, GivesAllJobsToTheOneThatIsNotDone) {
  const Schedule schedule(3);
  EXPECT_THAT(schedule.share(std::vector<Schedule::Claim>{{0, 0}, {4, quiet}, {0, 0}}, 4, 1),
              ElementsAre(0, 4, 0));
  EXPECT_THAT(schedule.share(std::vector<Schedule::Claim>{{0, 0}, {2, quiet}, {0, 0}}, 4, 1),
              ElementsAre(0, 2, 0));
}

// Worked out by hand: weights 4 and 1, so of 100 turns of one job 80 and 20.
TEST(Schedule, GivesFourTimesAsMuchWhileThereIsProgress) {
  Schedule schedule(2);
  const std::vector<Schedule::Claim> claims{{1, 0}, {1, quiet}};
  unsigned turns[2] = {};
  for (int turn = 0; turn < 100; ++turn) {
    const auto share = schedule.share(claims, 1, 1);
    for (std::size_t kernel = 0; kernel < 2; ++kernel) {
      turns[kernel] += share[kernel];
      schedule.charge(kernel, share[kernel], claims[kernel]);
    }
  }
  EXPECT_NEAR(turns[0], 80, 1);
  EXPECT_NEAR(turns[1], 20, 1);
}

TEST(CampaignFolder, IsTakenByOneAtATimeAndRemembersWhatWasAskedFor) {
  const TemporaryFolder folder;
  auto first = CampaignFolder::take(folder / "k/campaign");
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->read());
  ASSERT_TRUE(first->write({"fuzz \"k\"\n", 18446744073709551615u, false}));
  const auto second = CampaignFolder::take(folder / "k/campaign");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::user);
  EXPECT_THAT(second.error().message, HasSubstr("another campaign"));
  const auto record = first->read();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->command, "fuzz \"k\"\n");
  EXPECT_EQ(record->seed, 18446744073709551615u);
  EXPECT_FALSE(record->ended);
}

TEST(CampaignFolder, RemembersWorkersThatDiedAndWhenTheCorpusWasPruned) {
  const TemporaryFolder folder;
  const auto taken = CampaignFolder::take(folder / "k");
  ASSERT_TRUE(taken);
  const std::vector<CampaignFolder::Record::Death> deaths{{"killed by signal 9", "out/k/crashes/0.case"},
                                                          {"exit status 71", ""}};
  ASSERT_TRUE(taken->write({"c", 1, false, 300, deaths}));
  const auto record = taken->read();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->units, 300u);
  EXPECT_EQ(record->deaths, deaths);
}

TEST(CampaignFolder, ARecordThatCannotBeReadIsNone) {
  const TemporaryFolder folder;
  const auto taken = CampaignFolder::take(folder / "k");
  ASSERT_TRUE(taken);
  for (const char* text :
       {"", "{", "[]", "{\"command\": 1}", "{\"command\": \"\", \"seed\": -1, \"ended\": false}"}) {
    folder.write("k/campaign.json", text);
    EXPECT_FALSE(taken->read()) << text;
  }
}

// A corpus of five units, of which merging kept two: one by a person's name, and one that a search named.
TEST(Prune, RemovesOnlyWhatASearchKeptAndMergingDropped) {
  const TemporaryFolder folder;
  const std::string unit = "assay-case 1\nkernel = k\ndtype = f32\npass = forward\n\n[dims]\nn = ";
  const std::string kept = std::string(40, 'a'), dropped = std::string(40, 'b'),
                    ours = std::string(32, 'c') + ".case";
  folder.write("corpus/" + kept, unit + "1\n");
  folder.write("corpus/" + dropped, unit + "2\n");
  folder.write("corpus/" + ours, unit + "3\n");
  folder.write("corpus/by_hand.case", unit + "4\n");
  folder.write("corpus/notes.txt", "kept\n");
  folder.write("merged/other_name", unit + "1\n");
  const auto pruned = keep_merged(folder / "corpus", folder / "merged");
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->removed, 2u);
  EXPECT_EQ(pruned->kept, 3u);
  for (const std::string& name : {kept, std::string("by_hand.case"), std::string("notes.txt")})
    EXPECT_TRUE(fs::exists(folder.path() / "corpus" / name)) << name;
}

TEST(Prune, WhereMergingKeptNothingNothingIsRemoved) {
  const TemporaryFolder folder;
  folder.write("corpus/" + std::string(40, 'a'), "x");
  fs::create_directories(folder / "merged");
  const auto pruned = keep_merged(folder / "corpus", folder / "merged");
  ASSERT_TRUE(pruned);
  EXPECT_EQ(pruned->removed, 0u);
  EXPECT_TRUE(fs::exists(folder.path() / "corpus" / std::string(40, 'a')));
}

TEST(Leftovers, OfOurOwnWritingAreRemovedAndNothingElseIs) {
  const TemporaryFolder folder;
  folder.write("k/sig/.minimized.case.Ab12Cd", "half");
  for (const char* name :
       {"k/sig/minimized.case", "k/sig/.lock", "k/sig/.hidden", "k/.notes.md", "k/sig/hits"})
    folder.write(name, "");
  remove_leftovers(folder.path());
  EXPECT_FALSE(fs::exists(folder / "k/sig/.minimized.case.Ab12Cd"));
  for (const char* name :
       {"k/sig/minimized.case", "k/sig/.lock", "k/sig/.hidden", "k/.notes.md", "k/sig/hits"})
    EXPECT_TRUE(fs::exists(folder / name)) << name;
}

TEST(MendCorpus, RemovesHalfWrittenUnitsAndLeavesWhatPeopleNamed) {
  const TemporaryFolder folder;
  const std::string unit(40, 'a'), empty(40, 'b'), whole(40, 'c');
  folder.write(unit, "assay-case 1\nkernel = kernels/softm");
  folder.write(empty, "");
  folder.write(whole, testing::slurp(testing::checkout() /
                                     "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"));
  folder.write("mine.case", "assay-case 1\nhalf");
  EXPECT_EQ(mend_corpus(folder.path()), 2u);
  EXPECT_FALSE(fs::exists(folder / unit));
  EXPECT_FALSE(fs::exists(folder / empty));
  EXPECT_TRUE(fs::exists(folder / whole));
  EXPECT_TRUE(fs::exists(folder / "mine.case"));
}

TEST(BrokenUnits, AreCountedAndTheFirstIsNamed) {
  const TemporaryFolder folder;
  folder.write("a.case", testing::slurp(testing::checkout() /
                                        "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"));
  const auto none = broken_units(folder.path());
  ASSERT_TRUE(none);
  EXPECT_EQ(none->count, 0u);
  const std::string first = folder.write("b.case", "assay-case 1\nhalf");
  folder.write("deeper/c.case", "nothing of the kind");
  const auto two = broken_units(folder.path());
  ASSERT_TRUE(two);
  EXPECT_EQ(two->count, 2u);
  EXPECT_TRUE(two->first.starts_with(first + ":2")) << two->first;
}

TEST(Screen, HasALineAKernelAndTheTotals) {
  KernelSummary softmax, naive;
  softmax.report.kernel = "softmax";
  softmax.report.cases = 1200;
  softmax.report.seconds = 2;
  softmax.blocks_seen = 9;
  softmax.blocks = 14;
  softmax.worst_ratio = 0.75;
  naive.report.kernel = "softmax_naive";
  naive.report.cases = 300;
  naive.report.seconds = 1;
  naive.report.findings.resize(2);
  const std::vector<ScreenRow> rows{{&softmax, true, false, 61}, {&naive, false, true, -1}};
  const auto lines = campaign_screen(rows, 3, 60.0, std::nullopt);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("last new"));
  for (const char* part : {"> ", "softmax ", "1200", "600", "9/14", "0.75", "1:01 ago"})
    EXPECT_THAT(lines[1], HasSubstr(part));
  for (const char* part : {"-", "softmax_naive", "300", "2"}) EXPECT_THAT(lines[2], HasSubstr(part));
  EXPECT_EQ(lines[3], "0:03 of 2 kernels: 1500 cases, 500/s, 2 findings, 0:57 left");
  EXPECT_EQ(campaign_line({rows.data(), 1}, 3, std::nullopt, 2000),
            "softmax: 1200 cases, 400/s, coverage 9/14 blocks, 0 findings, 800 cases left");
}

} // namespace
} // namespace assay
