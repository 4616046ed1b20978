// assay corpus: add, merge, prune, stats.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string softmax = "kernels/softmax/kernel.toml";

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

void search(const TemporaryFolder& folder, const std::string& corpus, const char* seed) {
  const ProgramRun run = run_assay({"fuzz", softmax, "--runs", "400", "--jobs", "1", "--seed", seed, "--out",
                                    folder / "findings", "--corpus", folder / corpus});
  ASSERT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(Corpus, MergesWhatAddsAndPrunesWhatDoesNot) {
  const TemporaryFolder folder;
  search(folder, "a", "1");
  search(folder, "b", "2");
  const std::size_t in_a = files_in(folder / "a"), in_b = files_in(folder / "b");
  const ProgramRun merged =
      run_assay({"corpus", "merge", softmax, folder / "both", folder / "a", folder / "b"});
  EXPECT_EQ(merged.exit, 0) << merged.out << merged.err;
  const std::size_t both = files_in(folder / "both");
  EXPECT_GT(both, 0u);
  EXPECT_LT(both, in_a + in_b);
  EXPECT_THAT(merged.out, HasSubstr(std::to_string(both) + " units added, " + std::to_string(both) + " now"));
  const ProgramRun again =
      run_assay({"corpus", "merge", softmax, folder / "both", folder / "a", folder / "b"});
  EXPECT_THAT(again.out, HasSubstr("0 units added, " + std::to_string(both) + " now"));

  const std::string mine =
      replaced(slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"),
               "kernels/faulty/softmax_no_max", "kernels/softmax");
  folder.write("a/mine.case", mine);
  for (const auto& unit : fs::directory_iterator(folder / "b"))
    fs::copy(unit.path(), fs::path(folder / "a") / unit.path().filename(), fs::copy_options::skip_existing);
  const std::size_t mixed = files_in(folder / "a");
  const ProgramRun pruned = run_assay({"corpus", "prune", softmax, folder / "a"});
  EXPECT_EQ(pruned.exit, 0) << pruned.out << pruned.err;
  EXPECT_LT(files_in(folder / "a"), mixed);
  EXPECT_TRUE(fs::exists(folder / "a/mine.case")) << "what people named stays";
  const std::size_t once = files_in(folder / "a");
  EXPECT_EQ(run_assay({"corpus", "prune", softmax, folder / "a"}).exit, 0);
  EXPECT_EQ(files_in(folder / "a"), once) << "what is pruned stays as it is";
}

TEST(Corpus, PruneRefusesAFolderOfAnotherKind) {
  const TemporaryFolder folder;
  folder.write("a/" + std::string(40, 'a'), "not a case");
  const ProgramRun run = run_assay({"corpus", "prune", softmax, folder / "a"});
  EXPECT_EQ(run.exit, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("nothing was removed"));
  EXPECT_EQ(files_in(folder / "a"), 1u);
}

TEST(Corpus, StatsCountAndNameWhatIsBroken) {
  const ProgramRun run =
      run_assay({"corpus", "stats", "corpus/softmax_no_max", "corpus/softmax_backward_missing_dot"});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.out, ::testing::ContainsRegex("softmax_no_max +1 +[0-9]+ +1 +0 +1 +f32"));
  EXPECT_THAT(run.out, ::testing::ContainsRegex("softmax_backward_missing_dot +1 +[0-9]+ +0 +1 +1 +"));
  const TemporaryFolder folder;
  folder.write("a/x.case", "assay-case 1\nkern");
  const ProgramRun broken = run_assay({"corpus", "stats", folder / "a"});
  EXPECT_EQ(broken.exit, 2) << broken.out;
  EXPECT_THAT(broken.out, HasSubstr("x.case:2"));
}

TEST(Corpus, AddsAFindingByItsSignature) {
  const TemporaryFolder folder;
  const std::string text =
      slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case");
  folder.write("findings/softmax_no_max/the-signature/minimized.case", text);
  folder.write("findings/softmax_no_max/the-signature/original.case", text);
  const std::vector<std::string> add{"corpus", "add", folder / "findings/softmax_no_max/the-signature",
                                     "--corpus", folder / "corpus"};
  const ProgramRun run = run_assay(add);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(slurp(folder / "corpus/softmax_no_max/the-signature.case"), text);
  EXPECT_THAT(run_assay(add).out, HasSubstr("is there already"));
  EXPECT_EQ(files_in(folder / "corpus/softmax_no_max"), 1u);
  const ProgramRun none = run_assay({"corpus", "add", folder / "none"});
  EXPECT_EQ(none.exit, 2);
}

// The line that replay prints, and nothing is added: not even the right case beside it.
TEST(Corpus, AddRefusesWhatReplayRefuses) {
  const std::string right =
      slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case");
  for (const auto& [from, to] : {std::pair("rows = 1", "rows = 100000"), {"x = constant", "z = constant"}}) {
    const TemporaryFolder folder;
    folder.write("cases/a.case", right);
    const std::string bad = folder.write("cases/b.case", replaced(right, from, to));
    const ProgramRun run = run_assay({"corpus", "add", folder / "cases", "--corpus", folder / "corpus"});
    EXPECT_EQ(run.exit, 2) << run.out << run.err;
    EXPECT_EQ(run.err, run_assay({"replay", bad}).err);
    EXPECT_THAT(run.err, HasSubstr("b.case:"));
    EXPECT_THAT(run.out, ::testing::IsEmpty());
    EXPECT_FALSE(fs::exists(folder / "corpus"));
  }
}

} // namespace
} // namespace assay::testing
