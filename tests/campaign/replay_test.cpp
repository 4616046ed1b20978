// assay replay as a regression test: in CI, and in other people's projects.
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

const std::string no_max = "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case";

std::string case_text() { return slurp(checkout() / no_max); }

TEST(Replay, AVanishedKernelIsAnErrorAndTheOthersStillRun) {
  const TemporaryFolder folder;
  folder.write("c/a.case", replaced(case_text(), "softmax_no_max/kernel.toml", "gone/kernel.toml"));
  folder.write("c/b.case", case_text());
  const ProgramRun run =
      run_assay({"replay", folder / "c", "--junit", folder / "junit.xml", "--json", folder / "replay.json"});
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("a.case:2"));
  EXPECT_THAT(run.err, HasSubstr("gone/kernel.toml is not there"));
  const json report = json::parse(slurp(folder / "replay.json"));
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["skipped"], 0);
  EXPECT_EQ(report["cases"][0]["status"], "error");
  pugi::xml_document document;
  ASSERT_TRUE(document.load_file((folder / "junit.xml").c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("errors").as_int(), 1);
  EXPECT_EQ(suite.attribute("failures").as_int(), 0);
  EXPECT_TRUE(suite.find_child_by_attribute("name", "a.case").child("error"));
}

// A broken file is an outcome like others: told, counted, in both reports; what is worse decides the exit
// code.
TEST(Replay, ABrokenFileIsAnErrorAndTheOthersStillRun) {
  const TemporaryFolder folder;
  const std::string broken = folder.write("c/a.case", "assay-case 1\nnonsense\n");
  folder.write("c/b.case", case_text());
  const std::vector<std::string> args{"replay", folder / "c",          "--junit", folder / "junit.xml",
                                      "--json", folder / "replay.json"};
  const ProgramRun run = run_assay(args);
  EXPECT_EQ(run.exit, 2) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("error " + broken + ":2: "));
  EXPECT_THAT(run.out, HasSubstr("1 passed, 1 failed (1 could not be read or run), of 2 cases"));
  EXPECT_THAT(run.err, HasSubstr("assay: " + broken + ":2: "));
  const json report = json::parse(slurp(folder / "replay.json"));
  EXPECT_EQ(report["passed"], 1);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["errors"], 1);
  EXPECT_EQ(report["cases"][0]["status"], "error");
  pugi::xml_document document;
  ASSERT_TRUE(document.load_file((folder / "junit.xml").c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("tests").as_int(), 2);
  EXPECT_EQ(suite.attribute("errors").as_int(), 1);
  EXPECT_THAT(suite.find_child_by_attribute("name", "a.case").child("error").attribute("message").value(),
              HasSubstr("a.case:2"));

  folder.write("c/b.case", replaced(case_text(), "expect = fail softmax_no_max-forward-y-structure",
                                    "expect = pass")); // a fault outweighs what could not be read
  EXPECT_EQ(run_assay(args).exit, 1);
  fs::remove(folder / "c/b.case"); // nothing but broken ones
  fs::remove(folder / "junit.xml");
  EXPECT_EQ(run_assay(args).exit, 2);
  EXPECT_TRUE(fs::exists(folder / "junit.xml"));
}

TEST(Replay, AKernelThatIsAFolderIsToldAsOne) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("a.case", replaced(case_text(), "softmax_no_max/kernel.toml", "softmax_no_max"));
  const ProgramRun run = run_assay({"replay", file});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(
      run.err,
      HasSubstr(
          "a.case:2: its kernel kernels/faulty/softmax_no_max is a folder; name the kernel.toml in it"));
}

TEST(Replay, AnnotatesForGitHub) {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("fresh.case", replaced(case_text(), "expect = fail softmax_no_max-forward-y-structure",
                                          "expect = pass"));
  const ProgramRun run = run_assay({"replay", file, "--github"});
  EXPECT_EQ(run.exit, 1) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("::error file=" + file +
                        ",line=7,title=assay replay%3A failed::softmax_no_max-forward-y-structure: "));
  EXPECT_THAT(run_assay({"replay", no_max, "--github"}).out, ::testing::Not(HasSubstr("::error")));
}

TEST(Replay, AnnotatesAFaultAtItsSourceLine) {
  const ProgramRun run = run_assay({"replay", "corpus/sum_reads_past_tail", "--github", "--kernel",
                                    "kernels/faulty/sum_reads_past_tail/kernel.toml"});
  EXPECT_EQ(run.exit, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              ::testing::ContainsRegex(
                  "::error file=kernels/faulty/sum_reads_past_tail/[a-z_]+\\.cu,line=[0-9]+,title="));
}

TEST(Replay, FixedExpectationsFailUntilTheirFileIsUpdated) {
  const TemporaryFolder folder;
  const std::string right = replaced(case_text(), "kernels/faulty/softmax_no_max", "kernels/softmax");
  const ProgramRun fixed = run_assay({"replay", folder.write("fixed.case", right), "--github"});
  EXPECT_EQ(fixed.exit, 1) << fixed.out;
  EXPECT_THAT(fixed.out, HasSubstr("fixed: softmax_no_max-forward-y-structure is expected"));
  EXPECT_THAT(fixed.out, HasSubstr("title=assay replay%3A fixed::"));
  const std::string updated =
      replaced(right, "expect = fail softmax_no_max-forward-y-structure", "expect = pass");
  EXPECT_EQ(run_assay({"replay", folder.write("updated.case", updated)}).exit, 0);
}

TEST(Replay, ALooserToleranceIsToldAndFails) {
  const TemporaryFolder folder;
  const std::string right =
      replaced(replaced(replaced(case_text(), "kernels/faulty/softmax_no_max", "kernels/softmax"),
                        "expect = fail softmax_no_max-forward-y-structure", "expect = pass"),
               "fudge = 2", "fudge = 1.5");
  const ProgramRun run = run_assay({"replay", folder.write("loose.case", right), "--github"});
  EXPECT_EQ(run.exit, 1) << run.out;
  EXPECT_THAT(run.out, HasSubstr("looser tolerance than recorded: fudge 2 (recorded 1.5)"));
}

// A project of its own, with the function that Assay offers, configured and tested as its owner would.
TEST(Downstream, RegistersACorpusAsTests) {
  const TemporaryFolder folder;
  copy_kernel("softmax", folder);
  const std::string right =
      replaced(replaced(case_text(), "kernels/faulty/softmax_no_max", "kernels/softmax"),
               "expect = fail softmax_no_max-forward-y-structure", "expect = pass");
  folder.write("corpus/softmax/one.case", right);
  folder.write("corpus/softmax/more/two.case", replaced(right, "value=100", "value=3"));
  folder.write("CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.25)\nproject(downstream LANGUAGES NONE)\nenable_testing()\n"
               "list(APPEND CMAKE_MODULE_PATH " +
                   (checkout() / "tools/cmake").string() +
                   ")\ninclude(assay_corpus)\n"
                   "assay_add_corpus(CORPUS corpus/softmax)\n");
  const std::string configure = "cmake -S . -B b -DASSAY_PROGRAM=" + assay_program() + " 2>&1";
  const ProgramOptions there{.folder = folder.path()};
  const ProgramRun configured = run_program("/bin/sh", {"-c", configure}, there);
  ASSERT_EQ(configured.exit, 0) << configured.out;
  const ProgramRun passed = run_program("/bin/sh", {"-c", "ctest --test-dir b -L assay 2>&1"}, there);
  EXPECT_EQ(passed.exit, 0) << passed.out;
  EXPECT_THAT(passed.out, HasSubstr("assay/softmax/more/two.case"));
  EXPECT_THAT(passed.out, HasSubstr("100% tests passed, 0 tests failed out of 2"));

  const fs::path source = folder / "kernels/softmax/softmax.cu"; // a fault comes in
  folder.write("kernels/softmax/softmax.cu", replaced(slurp(source), "block_reduce(largest, Max())",
                                                      "0.0f * block_reduce(largest, Max())"));
  const ProgramRun failed = run_program("/bin/sh", {"-c", "ctest --test-dir b -L assay 2>&1"}, there);
  EXPECT_NE(failed.exit, 0) << failed.out;
  EXPECT_THAT(failed.out, HasSubstr("assay/softmax/one.case (Failed)"));

  fs::remove_all(folder / "corpus");
  fs::create_directories(folder / "corpus/softmax");
  const ProgramRun empty = run_program("/bin/sh", {"-c", configure}, there);
  EXPECT_NE(empty.exit, 0);
  EXPECT_THAT(empty.out, HasSubstr("holds no *.case"));
}

} // namespace
} // namespace assay::testing
