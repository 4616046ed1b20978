// From a manifest to a minimized reproducer that replays, with the real programs and nothing in their place.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <thread>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// One campaign over the faulty kernel, which the tests look at from all sides.
class SoftmaxNaive : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    run_ =
        run_assay({"fuzz", "kernels/softmax_naive/kernel.toml", "--time", "60", "--stop-after", "1", "--jobs",
                   "1", "--seed", "1", "--out", *folder_ / "findings", "--json", *folder_ / "fuzz.json"});
    if (fs::exists(*folder_ / "fuzz.json"))
      json_ = json::parse(slurp(*folder_ / "fuzz.json"), nullptr, false);
    if (!json_.contains("findings")) return;
    for (const json& finding : json_["findings"]) // an overflowing exponential
      if (finding["kind"] == "structure") finding_ = finding;
    if (finding_.is_object()) case_ = finding_["case"];
  }
  static void TearDownTestSuite() { delete folder_; }

  void SetUp() override { ASSERT_FALSE(case_.empty()) << run_.out << run_.err; }

  static std::string replay_why(const ProgramRun& run, const std::string& json_file) {
    const json replayed = json::parse(slurp(json_file));
    EXPECT_EQ(replayed["cases"].size(), 1u) << run.out << run.err;
    return replayed["cases"][0]["why"];
  }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline ProgramRun run_;
  static inline json json_, finding_;
  static inline std::string case_;
};

TEST_F(SoftmaxNaive, CampaignFindsTheFault) {
  EXPECT_EQ(run_.exit, 1) << run_.out << run_.err;
  EXPECT_THAT(run_.out, HasSubstr("FINDING"));
  EXPECT_THAT(run_.out, HasSubstr(case_));
  EXPECT_THAT(run_.err, Not(HasSubstr("INFO:"))) << "libFuzzer's own output belongs into the log";
}

TEST_F(SoftmaxNaive, JsonHasTheFieldsThatScriptsReadIt) {
  EXPECT_EQ(json_["kernel"], "softmax_naive");
  EXPECT_EQ(json_["device"], "cpu");
  for (const char* number :
       {"seconds", "cases", "cases_per_second", "suspects_not_confirmed", "inconclusive"})
    EXPECT_TRUE(json_[number].is_number()) << number;
  EXPECT_GT(json_["cases"], 0);
  const json& finding = finding_;
  for (const char* text : {"signature", "kind", "pass", "output", "dtype", "case"})
    EXPECT_TRUE(finding[text].is_string()) << text;
  EXPECT_EQ(finding["pass"], "forward");
  EXPECT_EQ(finding["output"], "y");
  EXPECT_LT(finding["seconds_to_find"], 10.0);
  for (const char* number : {"ratio", "severity"})
    EXPECT_TRUE(finding[number].is_number() || finding[number] == "inf" || finding[number] == "nan")
        << number;
}

TEST_F(SoftmaxNaive, ReproducerIsSmall) {
  const json& finding = finding_;
  EXPECT_EQ(finding["dims"]["rows"], 1);
  EXPECT_LE(finding["dims"]["cols"], 2);
  EXPECT_LE(finding["minimized_elements"], 2);
}

TEST_F(SoftmaxNaive, FindingIsStoredByItsSignature) {
  const fs::path file = case_;
  const std::string signature = finding_["signature"];
  EXPECT_EQ(file.filename(), "minimized.case");
  EXPECT_EQ(file.parent_path().filename(), signature);
  EXPECT_EQ(file.parent_path().parent_path().filename(), "softmax_naive");
  EXPECT_THAT(slurp(file), ::testing::StartsWith("assay-case 1\n"));
  EXPECT_TRUE(fs::exists(file.parent_path() / "original.case"));
  EXPECT_TRUE(json::accept(slurp(file.parent_path() / "report.json")));
}

TEST_F(SoftmaxNaive, ReplayFailsAlikeTenTimesInTenProcesses) {
  const std::string signature = finding_["signature"];
  std::string first;
  for (int i = 0; i < 10; ++i) {
    const ProgramRun run = run_assay({"replay", case_, "--json", *folder_ / "replay.json"});
    ASSERT_EQ(run.exit, 1) << run.out << run.err;
    const std::string why = replay_why(run, *folder_ / "replay.json");
    EXPECT_THAT(why, HasSubstr(signature));
    if (i == 0) first = why;
    EXPECT_EQ(why, first);
  }
}

TEST_F(SoftmaxNaive, ReplayPassesOnTheRightKernel) {
  const ProgramRun run = run_assay({"replay", case_, "--kernel", "kernels/softmax/kernel.toml"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST_F(SoftmaxNaive, ReplayOfTheFolderAlsoFails) {
  const ProgramRun run = run_assay({"replay", *folder_ / "findings", "--junit", *folder_ / "junit.xml"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(slurp(*folder_ / "junit.xml"), HasSubstr("<failure"));
}

TEST_F(SoftmaxNaive, ExplainShowsTheCase) {
  const ProgramRun run = run_assay({"explain", case_});
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("structure"));
  EXPECT_THAT(run.out, HasSubstr("rows"));
}

TEST_F(SoftmaxNaive, MinimizeShrinksTheOriginalToACaseThatStillFails) {
  const std::string original = (fs::path(case_).parent_path() / "original.case").string();
  const ProgramRun run = run_assay({"minimize", original, "--out", *folder_ / "small.case"});
  ASSERT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_LE(slurp(*folder_ / "small.case").size(), slurp(original).size());
  EXPECT_EQ(run_assay({"replay", *folder_ / "small.case"}).exit, 1);
}

TEST_F(SoftmaxNaive, SecondCampaignTellsOfTheStoredFinding) {
  const ProgramRun run = run_assay({"fuzz", "kernels/softmax_naive/kernel.toml", "--time", "60",
                                    "--stop-after", "1", "--jobs", "2", "--out", *folder_ / "findings"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("FINDING"));
}

TEST(MendedKernel, PassesTheReplayThatFailedBefore) {
  const TemporaryFolder folder;
  const fs::path manifest = copy_kernel("softmax_naive", folder);
  const ProgramRun fuzz = run_assay({"fuzz", manifest.string(), "--time", "60", "--stop-after", "1", "--jobs",
                                     "1", "--out", folder / "findings", "--json", folder / "fuzz.json"});
  ASSERT_EQ(fuzz.exit, 1) << fuzz.out << fuzz.err;
  const std::string file = json::parse(slurp(folder / "fuzz.json"))["findings"][0]["case"];
  EXPECT_EQ(run_assay({"replay", file}).exit, 1);

  const fs::path source = manifest.parent_path() / "softmax_naive.cu";
  folder.write("kernels/softmax_naive/softmax_naive.cu",
               replaced(slurp(source), "return 0.0f;", "return row_maximum(in, cols);"));
  const ProgramRun replay = run_assay({"replay", file});
  EXPECT_EQ(replay.exit, 0) << replay.out << replay.err;
}

class RightKernel : public ::testing::TestWithParam<const char*> {};

TEST_P(RightKernel, IsNotAccusedAndTheSuspectsAreCounted) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay({"fuzz", std::string("kernels/") + GetParam() + "/kernel.toml", "--runs", "1500", "--jobs",
                 "1", "--seed", "3", "--out", folder / "findings", "--json", folder / "fuzz.json"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("not confirmed"));
  const json report = json::parse(slurp(folder / "fuzz.json"));
  EXPECT_EQ(report["cases"], 1500);
  EXPECT_TRUE(report["findings"].empty());
}

INSTANTIATE_TEST_SUITE_P(Kernels, RightKernel, ::testing::Values("softmax", "offset_rmsnorm"));

TEST(Campaign, OverTwoKernelsWritesAList) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay({"fuzz", "kernels/softmax/kernel.toml", "kernels/offset_rmsnorm/kernel.toml", "--runs", "50",
                 "--jobs", "2", "--out", folder / "findings", "--json", folder / "fuzz.json"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  const json report = json::parse(slurp(folder / "fuzz.json"));
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[0]["kernel"], "softmax");
  EXPECT_EQ(report[1]["kernel"], "offset_rmsnorm");
  EXPECT_EQ(report[1]["cases"], 50);
}

TEST(Campaign, KeepsWhatItLearntInTheCorpusGiven) {
  const TemporaryFolder folder;
  const ProgramRun run = run_assay({"fuzz", "kernels/softmax/kernel.toml", "--runs", "200", "--jobs", "1",
                                    "--out", folder / "findings", "--corpus", folder / "corpus"});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  ASSERT_FALSE(fs::is_empty(folder / "corpus"));
  for (const auto& unit : fs::directory_iterator(folder / "corpus"))
    EXPECT_THAT(slurp(unit.path()), ::testing::StartsWith("assay-case 1\n")) << unit.path();
}

TEST(Campaign, EndsCleanlyOnCtrlC) {
  const TemporaryFolder folder;
  std::vector<int> workers;
  const ProgramRun run = run_assay({"fuzz", "kernels/softmax/kernel.toml", "--time", "300", "--jobs", "2",
                                    "--out", folder / "findings", "--json", folder / "fuzz.json"},
                                   {.while_running = [&](int pid) {
                                     for (int i = 0; i < 600 && workers.size() < 2; ++i) {
                                       std::this_thread::sleep_for(std::chrono::milliseconds(100));
                                       workers = children_of(pid);
                                     }
                                     std::this_thread::sleep_for(std::chrono::seconds(4));
                                     ::kill(pid, SIGINT);
                                   }});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_LT(run.seconds, 100);
  EXPECT_THAT(run.out, HasSubstr("interrupted"));
  EXPECT_GT(json::parse(slurp(folder / "fuzz.json"))["cases"], 0);
  EXPECT_EQ(workers.size(), 2u);
  for (const int worker : workers) EXPECT_NE(::kill(worker, 0), 0) << "a worker is left";
}

TEST(Campaign, OutlivesAWorkerAndWritesTheCulpritDown) {
  const TemporaryFolder folder;
  const ProgramRun run = run_assay(
      {"fuzz", "kernels/softmax/kernel.toml", "--time", "8", "--jobs", "1", "--out", folder / "findings"},
      {.while_running = [&](int pid) {
        std::vector<int> workers;
        for (int i = 0; i < 600 && workers.empty(); ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          workers = children_of(pid);
        }
        std::this_thread::sleep_for(std::chrono::seconds(4));
        for (const int worker : workers) ::kill(worker, SIGSEGV);
      }});
  EXPECT_EQ(run.exit, 70) << run.out << run.err; // no finding, but a fault of ours (here: the test's)
  EXPECT_THAT(run.err, HasSubstr("its log is"));
  EXPECT_THAT(run.err, HasSubstr("which ends with: "));
  EXPECT_THAT(run.err, HasSubstr("SEGV")); // libFuzzer's words
  EXPECT_THAT(run.out, HasSubstr("cases"));
}

TEST(LibFuzzerTarget, ListsItsFlagsWithoutAKernel) {
  const ProgramRun run = run_assay_fuzz({"-help=1"});
  EXPECT_EQ(run.exit, 0);
  EXPECT_THAT(run.out + run.err, HasSubstr("max_total_time"));
}

TEST(LibFuzzerTarget, SaysThatItNeedsAKernel) {
  const ProgramRun run = run_assay_fuzz({"-runs=1"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("ASSAY_KERNEL"));
}

TEST(LibFuzzerTarget, RunsOnItsOwn) {
  const ProgramRun run = run_assay_fuzz({"-runs=100", "-seed=1"},
                                        {.environment = {{"ASSAY_KERNEL", "kernels/softmax/kernel.toml"}}});
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("Done 100 runs"));
}

TEST(LibFuzzerTarget, AbortsOnAFindingAndItsArtifactReplays) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_assay_fuzz({"-runs=100000", "-seed=1", "-artifact_prefix=" + folder.path().string() + "/"},
                     {.environment = {{"ASSAY_KERNEL", "kernels/softmax_naive/kernel.toml"}}});
  EXPECT_EQ(run.exit, 77) << run.err;
  std::vector<fs::path> artifacts;
  for (const auto& entry : fs::directory_iterator(folder.path())) artifacts.push_back(entry.path());
  ASSERT_EQ(artifacts.size(), 1u);
  EXPECT_EQ(run_assay({"replay", artifacts[0].string()}).exit, 1);
}

TEST(List, NamesKernelsOperatorsAndDevices) {
  const ProgramRun run = run_assay({"list"});
  EXPECT_EQ(run.exit, 0) << run.err;
  for (const char* name : {"softmax_naive", "offset_rmsnorm", "cpu", "NVRTC"})
    EXPECT_THAT(run.out, HasSubstr(name));
}

TEST(Help, NamesEveryCommandThatThereIs) {
  const ProgramRun run = run_assay({"--help"});
  EXPECT_EQ(run.exit, 0);
  for (const char* name : {"fuzz", "replay", "minimize", "explain", "list"})
    EXPECT_THAT(run.out, HasSubstr(name));
}

} // namespace
} // namespace assay::testing
