// Findings grouped into faults, and what `assay triage` says of a folder of them.
#include "harness/report/triage_collect.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GroupingFinding finding(const std::string& output, Kind kind, std::optional<Cause> likeliest = std::nullopt,
                        Pass pass = Pass::forward, double severity = 10) {
  return {{"k", pass, output, kind, {}}, severity, likeliest, {}};
}

void see(GroupingFinding& one, const GroupingFinding& other) {
  one.seen_with.push_back(to_string(other.signature));
}

TEST(Grouping, ARaceExplainsWhatElseItsCaseShows) {
  std::vector<GroupingFinding> all{finding("y", Kind::gate), finding("shared", Kind::race),
                                   finding("y", Kind::nondeterministic)};
  see(all[1], all[0]);
  see(all[1], all[2]);
  EXPECT_THAT(group_findings(all), ElementsAre(ElementsAre(1, 0, 2)));
}

TEST(Grouping, OneLikeliestSuspectIsOneFault) {
  const std::vector<GroupingFinding> all{
      finding("y", Kind::gate, Cause::numerical_stability, Pass::forward, 5),
      finding("y", Kind::structure, Cause::numerical_stability, Pass::forward, 7),
      finding("rstd", Kind::gate, Cause::indexing)};
  EXPECT_THAT(group_findings(all), ElementsAre(ElementsAre(1, 0), ElementsAre(2)));
}

TEST(Grouping, TwoWrongGradientsAreTwoFaults) {
  const std::vector<GroupingFinding> all{
      finding("grad_x", Kind::gate, Cause::backward_formula, Pass::backward),
      finding("grad_weight", Kind::gate, Cause::backward_formula, Pass::backward)};
  EXPECT_EQ(group_findings(all).size(), 2u);
}

TEST(Grouping, NothingJoinsKernels) {
  std::vector<GroupingFinding> all{finding("y", Kind::gate, Cause::indexing),
                                   finding("y", Kind::gate, Cause::indexing)};
  all[1].signature.kernel = "other";
  EXPECT_EQ(group_findings(all).size(), 2u);
}

// --- the command ---

fs::path corpus_of(const TemporaryFolder& folder, const std::vector<std::string>& kernels) {
  for (const std::string& kernel : kernels)
    fs::copy(checkout() / "corpus" / kernel, fs::path(folder / kernel), fs::copy_options::recursive);
  return folder.path();
}

nlohmann::json triaged(const fs::path& folder, const TemporaryFolder& scratch, int exit) {
  const std::string file = scratch / "triage.json";
  const ProgramRun run = run_assay({"triage", folder.string(), "--device", "cpu", "--json", file});
  EXPECT_EQ(run.exit, exit) << run.out << run.err;
  return nlohmann::json::parse(slurp(file), nullptr, false);
}

TEST(Triage, TellsEachFaultWithSuspectsPictureAndCommands) {
  const TemporaryFolder folder;
  corpus_of(folder, {"rmsnorm_backward_missing_mean"});
  const ProgramRun run = run_assay({"triage", folder.path().string(), "--device", "cpu"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_THAT(run.out, HasSubstr("OPEN rmsnorm_backward_missing_mean-backward-grad_x-gate"));
  EXPECT_THAT(run.out, HasSubstr("backward formula"));
  EXPECT_THAT(run.out, HasSubstr("error / threshold of grad_x"));
  for (const char* command : {"replay ", "explain ", "export "})
    EXPECT_THAT(run.out, HasSubstr(std::string(command) + folder.path().string()));
  EXPECT_THAT(run.out, HasSubstr("1 fault open, 0 fixed"));
}

TEST(Triage, JsonHoldsWhatTheTextSays) {
  const TemporaryFolder folder, scratch;
  corpus_of(folder, {"sum_half_accumulator", "softmax_no_max"});
  const nlohmann::json json = triaged(folder.path(), scratch, 1);
  ASSERT_EQ(json["groups"].size(), 2u) << json.dump(2);
  for (const auto& group : json["groups"]) {
    EXPECT_TRUE(group["open"]);
    EXPECT_GE(group["count"], 1);
    ASSERT_FALSE(group["suspects"].empty()) << group["signature"];
    for (const auto& suspect : group["suspects"]) {
      EXPECT_FALSE(suspect["name"].get<std::string>().empty());
      EXPECT_FALSE(suspect["evidence"].get<std::string>().empty());
      EXPECT_GT(suspect["score"], 0);
    }
    EXPECT_TRUE(fs::exists(group["case"].get<std::string>()));
    const auto& map = group["map"];
    EXPECT_EQ(map["level"].size(),
              map["cells_down"].get<std::size_t>() * map["cells_across"].get<std::size_t>());
    EXPECT_EQ(group["histogram"]["target"].size(), group["histogram"]["reference"].size());
    EXPECT_FALSE(group["samples"].empty());
    EXPECT_FALSE(group["tensors"].empty());
  }
}

TEST(Triage, AMendedKernelsFindingIsFixed) {
  const TemporaryFolder folder, scratch;
  const std::string text = replaced(
      slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case"),
      "kernels/faulty/softmax_no_max/kernel.toml", (checkout() / "kernels/softmax/kernel.toml").string());
  const std::string file = folder.write("cases/one.case", text);
  const nlohmann::json json = triaged(fs::path(file).parent_path(), scratch, 0);
  ASSERT_EQ(json["groups"].size(), 1u);
  EXPECT_FALSE(json["groups"][0]["open"]);
}

TEST(Triage, ARightKernelsCasesAreNoFindings) {
  const TemporaryFolder folder, scratch;
  corpus_of(folder, {"gelu_erf_truncates.fixed"});
  const nlohmann::json json = triaged(folder.path(), scratch, 0);
  EXPECT_TRUE(json["groups"].empty());
}

TEST(Triage, AnUnreadableCaseIsToldAndFails) {
  const TemporaryFolder folder, scratch;
  corpus_of(folder, {"softmax_no_max"});
  folder.write("broken.case", "assay-case 1\nnonsense\n");
  const nlohmann::json json = triaged(folder.path(), scratch, 1);
  EXPECT_EQ(json["groups"].size(), 1u);
  ASSERT_EQ(json["unread"].size(), 1u);
  EXPECT_THAT(json["unread"][0].get<std::string>(), HasSubstr("broken.case:2"));
}

TEST(Triage, RefusesWhatIsNoFolderOfCases) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "empty");
  for (const std::string& argument : {folder / "none", folder / "empty", folder.write("a.case", "x")}) {
    const ProgramRun run = run_assay({"triage", argument, "--device", "cpu"});
    EXPECT_EQ(run.exit, 2) << argument;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr(argument));
  }
}

} // namespace
} // namespace assay::testing
