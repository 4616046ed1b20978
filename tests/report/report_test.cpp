#include "harness/report/error_series.h"
#include "harness/report/json.h"
#include "harness/report/junit.h"
#include "harness/report/table.h"
#include "harness/report/text.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include <limits>
#include <sstream>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(Table, AlignsAndCutsItsWidestLeftColumn) {
  Table table({{"name"}, {"value", Table::Align::right}});
  table.add({"short", "1"});
  table.add({std::string(150, 'x'), "12345"});
  EXPECT_EQ(widest_line(table.text()), 100u);
  EXPECT_THAT(table.text(), HasSubstr("xx.."));
  EXPECT_THAT(table.text(), HasSubstr("    1\n"));
}

TEST(Table, ShortNumbers) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(1.23456e-7), "1.23e-07");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(short_number(std::nan("")), "nan");
}

TEST(HeatStrip, ShowsTheWorstOfEachCellAndLabelsRanges) {
  std::vector<double> levels(2 * 128, 0.0);
  levels[0] = 0.1;
  levels[63] = 0.9;      // column 63 shares a cell with 62
  levels[128 + 2] = 2;   // row 1
  levels[128 + 4] = 100; //
  levels[128 + 5] = 0.1; // same cell as 4: the larger shows
  levels[255] = std::numeric_limits<double>::infinity();
  const std::vector<std::int64_t> shape{2, 128};
  const std::string text = heat_strip(error_map("y", levels, shape));
  EXPECT_EQ(text, "  0 |." + std::string(30, ' ') + "-" + std::string(32, ' ') + "|\n" + "  1 | +#" +
                      std::string(60, ' ') + "!|\n" + "     0" + std::string(60, ' ') + "127\n");
}

TEST(HeatStrip, OneElementAndNone) {
  const std::vector<std::int64_t> one{1}, none{0};
  EXPECT_EQ(heat_strip(error_map("y", std::vector{5.0}, one)), "  0 |#|\n     0\n");
  EXPECT_EQ(heat_strip(error_map("y", {}, none)), "  (no elements)\n");
}

Finding some_finding() {
  const SoftmaxOnFake fake(naive_softmax);
  return fake.judged(fake.make_case(1, 2, "constant(value=100)")).findings.at(0);
}

TEST(Json, CampaignHasTheFixedFields) {
  CampaignReport report{"fake", "cpu", 2.0, 1000, 3, 1, {}, {"grad_x"}};
  report.findings.push_back({some_finding(), 0.25, "findings/fake/x/minimized.case", 2, 17});
  const Json json = Json::parse(campaign_json({&report, 1}));
  EXPECT_EQ(json["kernel"], "fake");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["seconds"], 2.0);
  EXPECT_EQ(json["cases"], 1000);
  EXPECT_EQ(json["cases_per_second"], 500.0);
  EXPECT_EQ(json["suspects_not_confirmed"], 3);
  EXPECT_EQ(json["inconclusive"], 1);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["signature"], "fake-forward-y-structure");
  EXPECT_EQ(finding["kind"], "structure");
  EXPECT_EQ(finding["pass"], "forward");
  EXPECT_EQ(finding["output"], "y");
  EXPECT_EQ(finding["dtype"], "f32");
  EXPECT_EQ(finding["dims"]["cols"], 2);
  EXPECT_EQ(finding["ratio"], "inf");
  EXPECT_EQ(finding["severity"], "inf");
  EXPECT_EQ(finding["seconds_to_find"], 0.25);
  EXPECT_EQ(finding["case"], "findings/fake/x/minimized.case");
  EXPECT_EQ(finding["minimized_elements"], 2);
  const std::vector<CampaignReport> two{report, report};
  EXPECT_EQ(Json::parse(campaign_json(two)).size(), 2u);
}

// No number is the error where NaN or infinity is out of place.
TEST(Text, WrongStructureIsToldAsWhatStandsThere) {
  CampaignReport report{"fake", "cpu", 2.0, 1000, 3, 1, {}, {}};
  report.findings.push_back({some_finding(), 0.25, "findings/fake/x/minimized.case", 2, 17});
  EXPECT_THAT(campaign_text(report), HasSubstr("y[0,0] = nan, golden 0.5\n"));
  const Json told = Json::parse(finding_json(some_finding()));
  EXPECT_EQ(told["tensor"]["target_error"], "nan");
  EXPECT_EQ(told["tensor"]["ratio"], "inf");
}

TEST(Text, CommandsThatArePrintedCanBePasted) {
  EXPECT_EQ(shell_quoted("findings/a-b.case"), "findings/a-b.case");
  EXPECT_EQ(shell_quoted("my findings/it's.case"), "'my findings/it'\\''s.case'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(Json, CampaignTellsOfTheScreenOnlyWhereThereIsOne) {
  CampaignReport report{"fake", "cuda", 2.0, 1000, 3, 1, {}, {}};
  EXPECT_FALSE(Json::parse(campaign_json({&report, 1})).contains("screened"));
  EXPECT_FALSE(campaign_text(report).contains("screen"));
  report.screened = 900;
  report.unjudged = 20;
  EXPECT_EQ(Json::parse(campaign_json({&report, 1}))["screened"], 900);
  EXPECT_EQ(Json::parse(campaign_json({&report, 1}))["unjudged"], 20);
  EXPECT_TRUE(campaign_text(report).contains("900 of the cases were plainly clean")) << campaign_text(report);
}

TEST(Json, AFindingIsReadBack) {
  const Finding finding = some_finding();
  const auto again = parse_finding(finding_json(finding), "report.json");
  ASSERT_TRUE(again) << to_string(again.error());
  EXPECT_EQ(again->signature, finding.signature);
  EXPECT_EQ(again->test_case, finding.test_case);
  EXPECT_EQ(again->message, finding.message);
  EXPECT_TRUE(std::isinf(again->severity));
}

TEST(Json, AMalformedReportIsAUserError) {
  for (const char* text : {"", "[]", "{}", "{\"kernel\": 3}", "{\"kernel\"", "nonsense"}) {
    const auto finding = parse_finding(text, "report.json");
    ASSERT_FALSE(finding) << text;
    EXPECT_EQ(finding.error().kind, ErrorKind::user);
    EXPECT_EQ(finding.error().place.file, "report.json");
  }
}

std::vector<ReplayOutcome> outcomes() {
  std::vector<ReplayOutcome> list(3);
  list[0].file = "corpus/a.case";
  list[0].why = "nothing wrong";
  list[1].file = "corpus/b.case";
  list[1].status = ReplayStatus::failed;
  list[1].why = "k-forward-y-gate: 1 < 2 & \x01";
  list[2].file = "corpus/c.case";
  list[2].status = ReplayStatus::fixed;
  list[2].why = "fixed: ...";
  list[2].notes = {"the kernel's source has changed since the case was made"};
  return list;
}

TEST(Json, ReplayCountsWhatIsFixedAsFailed) {
  const Json json = Json::parse(replay_json(outcomes()));
  EXPECT_EQ(json["passed"], 1);
  EXPECT_EQ(json["failed"], 2);
  EXPECT_EQ(json["skipped"], 0);
  EXPECT_EQ(json["cases"][1]["case"], "corpus/b.case");
  EXPECT_EQ(json["cases"][1]["status"], "failed");
  EXPECT_EQ(json["cases"][2]["status"], "fixed");
  EXPECT_THAT(json["cases"][1]["why"], HasSubstr("gate"));
}

TEST(Junit, IsWellFormedAndCountsFailures) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml(outcomes()).c_str()));
  const pugi::xml_node suite = document.child("testsuites").child("testsuite");
  EXPECT_EQ(suite.attribute("tests").as_int(), 3);
  EXPECT_EQ(suite.attribute("failures").as_int(), 2);
  EXPECT_THAT(suite.find_child_by_attribute("name", "b.case").child("failure").attribute("message").value(),
              HasSubstr("1 < 2 & ?"));
}

TEST(Text, ReplayTellsWhatIsNotAsExpected) {
  const std::string text = replay_text(outcomes());
  EXPECT_THAT(text, HasSubstr("failed corpus/b.case"));
  EXPECT_THAT(text, HasSubstr("fixed corpus/c.case"));
  EXPECT_THAT(text, HasSubstr("1 passed, 2 failed, of 3 cases"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("a.case")));
}

TEST(Text, ExplainShowsInputsNumbersVerdictAndPlace) {
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    right_softmax(launch);
    launch.buffer<float>(1)[32 + 31] = 0.75f;
  });
  const Case test_case = fake.make_case(2, 32);
  const std::string text = explain_text(test_case, *fake.kernel, fake.judged(test_case));
  EXPECT_THAT(text, HasSubstr("fake (softmax), forward f32, rows=2 cols=32"));
  EXPECT_THAT(text, HasSubstr("normal(mean=0, stddev=1)"));
  EXPECT_THAT(text, HasSubstr("grid 2,1,1 block 32,1,1"));
  EXPECT_EQ(text.find("y[1,31] = 0.75"), text.rfind("y[1,31] = 0.75")) << "told once";
  EXPECT_THAT(text, HasSubstr("y[1,31] = 0.75"));
  EXPECT_THAT(text, HasSubstr("threshold: fudge times ref/golden")) << "the columns are explained";
  EXPECT_THAT(text, HasSubstr("#|"));
  EXPECT_THAT(text, HasSubstr("FAIL fake-forward-y-gate"));
  EXPECT_THAT(text, HasSubstr("not tested, for no launch takes it: grad_x"));
  EXPECT_LE(widest_line(text), 160u);
}

} // namespace
} // namespace assay::testing
