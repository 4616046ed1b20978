// assay-fuzz driven by libFuzzer's flags alone, as any infrastructure that knows libFuzzer targets drives it.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

ProgramOptions with(const std::string& kernel) {
  return {.environment = {{"ASSAY_KERNEL", "kernels/" + kernel + "/kernel.toml"}}};
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST(LibFuzzer, RunsGrowACorpusAndMergeMakesItSmaller) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "corpus");
  fs::create_directories(folder / "merged");
  const ProgramRun grown = run_assay_fuzz({"-runs=400", "-seed=1", folder / "corpus"}, with("softmax"));
  EXPECT_EQ(grown.exit, 0) << grown.err;
  EXPECT_THAT(grown.err, HasSubstr("Done 400 runs"));
  const std::size_t units = files_in(folder / "corpus").size();
  EXPECT_GT(units, 0u);
  const ProgramRun merged =
      run_assay_fuzz({"-merge=1", folder / "merged", folder / "corpus"}, with("softmax"));
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_THAT(merged.err, HasSubstr("MERGE-OUTER"));
  EXPECT_GT(files_in(folder / "merged").size(), 0u);
  EXPECT_LE(files_in(folder / "merged").size(), units);
}

TEST(LibFuzzer, MergeKeepsCasesThatFail) {
  const TemporaryFolder folder;
  for (const char* name : {"from", "into"}) fs::create_directories(folder / name);
  folder.write("from/a", slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"));
  const ProgramRun merged =
      run_assay_fuzz({"-merge=1", folder / "into", folder / "from"}, with("faulty/softmax_no_max"));
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_EQ(files_in(folder / "into").size(), 1u) << merged.err;
}

TEST(LibFuzzer, ACrashIsWrittenRunsAgainAloneAndIsMinimized) {
  const TemporaryFolder folder;
  const ProgramRun found =
      run_assay_fuzz({"-runs=100000", "-seed=1", "-exact_artifact_path=" + (folder / "crash")},
                     with("faulty/softmax_no_max"));
  EXPECT_EQ(found.exit, 77) << found.err;
  ASSERT_TRUE(fs::exists(folder / "crash"));
  const ProgramRun alone = run_assay_fuzz({folder / "crash"}, with("faulty/softmax_no_max"));
  EXPECT_EQ(alone.exit, 77) << alone.err;
  const ProgramRun right = run_assay_fuzz({folder / "crash"}, with("softmax"));
  EXPECT_EQ(right.exit, 0) << right.err;
  const ProgramRun small = run_assay_fuzz({"-minimize_crash=1", "-max_total_time=6",
                                           "-exact_artifact_path=" + (folder / "small"), folder / "crash"},
                                          with("faulty/softmax_no_max"));
  EXPECT_THAT(small.err, HasSubstr("CRASH_MIN"));
  ASSERT_TRUE(fs::exists(folder / "small")) << small.err;
  EXPECT_LE(fs::file_size(folder / "small"), fs::file_size(folder / "crash"));
  EXPECT_EQ(run_assay_fuzz({folder / "small"}, with("faulty/softmax_no_max")).exit, 77);
}

TEST(LibFuzzer, ForksAndStopsAtACrash) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "corpus");
  const ProgramRun quiet = run_assay_fuzz(
      {"-fork=1", "-max_total_time=4", "-artifact_prefix=" + folder.path().string() + "/", folder / "corpus"},
      with("softmax"));
  EXPECT_EQ(quiet.exit, 0) << quiet.err;
  EXPECT_THAT(quiet.err, HasSubstr("INFO: -fork=1"));
  EXPECT_GT(files_in(folder / "corpus").size(), 0u);
  const ProgramRun crash =
      run_assay_fuzz({"-fork=1", "-max_total_time=20", "-artifact_prefix=" + folder.path().string() + "/",
                      folder / "corpus"},
                     with("faulty/softmax_no_max"));
  EXPECT_EQ(crash.exit, 77) << crash.err;
}

// A copy of the binary, so that nothing is put beside the real one; python3 makes the zip.
TEST(LibFuzzer, AZipOfSeedsBesideTheBinaryFillsAnEmptyCorpus) {
  const TemporaryFolder folder;
  const std::string target = folder / "target", zip = target + "_seed_corpus.zip";
  fs::copy_file(fs::path(assay_program()).parent_path() / "../fuzz/assay-fuzz", target);
  const std::string seed = "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case";
  ASSERT_EQ(run_program("/usr/bin/python3", {"-m", "zipfile", "-c", zip, seed, "corpus/softmax_no_max"}).exit,
            0);
  fs::create_directories(folder / "corpus");
  const ProgramRun first = run_program(target, {"-runs=0", folder / "corpus"}, with("softmax"));
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("seeds of " + zip + " unpacked into " + (folder / "corpus")));
  const auto seeds = files_in(folder / "corpus");
  ASSERT_FALSE(seeds.empty());
  EXPECT_TRUE(std::ranges::any_of(
      seeds, [&](const fs::path& file) { return slurp(file) == slurp(checkout() / seed); }));
  const ProgramRun again = run_program(target, {"-runs=0", folder / "corpus"}, with("softmax"));
  EXPECT_THAT(again.err, Not(HasSubstr("unpacked")));
  folder.write("target_seed_corpus.zip", "no zip");
  fs::create_directories(folder / "other");
  const ProgramRun broken = run_program(target, {"-runs=0", folder / "other"}, with("softmax"));
  EXPECT_EQ(broken.exit, 2) << broken.err;
  EXPECT_THAT(broken.err, HasSubstr(zip));
}

TEST(LibFuzzer, SeedsAreFoldersOfCases) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "corpus");
  folder.write("seeds/one",
               slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"));
  const ProgramRun run = run_assay_fuzz({"-runs=5", folder / "corpus", folder / "seeds"}, with("softmax"));
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("1 files found in " + (folder / "seeds")));
}

} // namespace
} // namespace assay::testing
