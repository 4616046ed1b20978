// Findings grouped into faults, and what `assay triage` says of a folder of them.
#include "harness/report/triage_collect.h"
#include "harness/report/triage_examine.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

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

TEST(Triage, WhatIsKeptOfACaseComesBackAsItWas) {
  Examined one;
  one.finding = {{"k", Pass::backward, "grad_x", Kind::race, {"k.cu", 4, 2}},
                 "a \"message\"",
                 std::numeric_limits<double>::infinity()};
  one.kernel = "k";
  one.op = "sum";
  one.seen_with = {"k-backward-grad_x-race-k.cu-4", "k-backward-grad_x-gate"};
  one.elements = 3;
  one.note = "none fits";
  one.tensors.push_back({Pass::backward,
                         "grad_x",
                         "bf16",
                         {2, 3},
                         false,
                         0.1,
                         7,
                         0x1p-149,
                         1e-300,
                         std::numeric_limits<double>::infinity(),
                         false,
                         "FAIL",
                         "grad_x[0,1] = 1"});
  one.suspects = {{Cause::backward_formula, 0.9, "e"}, {Cause::reduction_order, 0.5, "f"}};
  one.cleared = {{Cause::indexing, 0, "g"}};
  one.map = ErrorMap{"grad_x", {2, 3}, 2, 3, 1, 2, {1e300, std::numeric_limits<double>::infinity()}};
  one.histogram = {-3, {1, 2}, {3, 4}, 5, 6, 7, 8};
  one.samples.push_back({{{"rows", 2}, {"cols", 3}}, "normal", 4.5, 0.25, true});
  const std::string text = examined_json(one);
  const auto back = parse_examined(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(examined_json(*back), text);
  ASSERT_TRUE(back->finding);
  EXPECT_EQ(back->finding->signature, one.finding->signature);
  EXPECT_TRUE(std::isinf(back->finding->severity));
  EXPECT_EQ(back->tensors.front().target_error, 0x1p-149);
  EXPECT_EQ(back->suspects.back().cause, Cause::reduction_order);
  ASSERT_TRUE(back->map);
  EXPECT_EQ(back->map->level, one.map->level);
  for (const std::string& damaged : {std::string(), std::string("{}"), text.substr(0, text.size() / 2)})
    EXPECT_FALSE(parse_examined(damaged));
}

TEST(Triage, ASecondTimeIsTheSameAndASourceThatChangesIsSeen) {
  const TemporaryFolder folder, scratch;
  const fs::path manifest = copy_kernel("softmax_naive", folder);
  ASSERT_EQ(run_assay({"fuzz", manifest.string(), "--time", "20", "--stop-after", "1", "--jobs", "1",
                       "--device", "cpu", "--out", folder / "findings"})
                .exit,
            1);
  const ProgramOptions own_cache{.environment = {{"XDG_CACHE_HOME", folder / "cache"}}};
  const auto triage = [&](int exit) {
    const ProgramRun run = run_assay({"triage", folder / "findings", "--device", "cpu", "--json",
                                      scratch / "t.json", "--html", scratch / "t.html"},
                                     own_cache);
    EXPECT_EQ(run.exit, exit) << run.err;
    return std::pair(slurp(scratch / "t.json"), slurp(scratch / "t.html"));
  };
  const auto kept = [&] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder / "cache/assay/triage"))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  };
  const auto first = triage(1);
  ASSERT_EQ(kept().size(), 1u);
  EXPECT_EQ(triage(1), first);
  std::ofstream(kept().front()) << "damaged";
  EXPECT_EQ(triage(1), first) << "what does not check out is made again";
  const fs::path source = manifest.parent_path() / "softmax_naive.cu";
  const std::string text = slurp(source);
  std::ofstream(source) << text << "// changed\n";
  triage(1);
  EXPECT_EQ(kept().size(), 2u) << "another source is another question";
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
