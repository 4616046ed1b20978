// The page of triage: what is on it, and that strangers' texts cannot leave their place.
#include "harness/report/svg.h"
#include "harness/report/triage_page.h"
#include "harness/report/triage_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(EscapeHtml, LeavesNoMarkupNoControlsAndOnlyUtf8) {
  EXPECT_EQ(escape_html("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_html(std::string("\0\x1b\n\t\x7f", 5)), "\\x00\\x1b\n\t\\x7f");
  EXPECT_EQ(escape_html("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82");
  // Alone, overlong, a surrogate, above U+10FFFF, cut short.
  EXPECT_EQ(escape_html("\x80|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"),
            "\\x80|\\xc0\\xaf|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80|\\xe2\\x82");
}

TEST(Pictures, LevelsHaveFixedBounds) {
  const std::pair<double, const char*> levels[] = {{0, "l0"},        {0.2499, "l1"}, {0.25, "l2"},
                                                   {1, "l2"},        {1.001, "l3"},  {4, "l4"},
                                                   {infinity, "l5"}, {1e300, "l5"}};
  for (const auto& [level, name] : levels) EXPECT_EQ(level_class(level), name) << level;
}

TEST(Pictures, AHeatMapJoinsNeighboursOfOneClass) {
  const ErrorMap map{"y", {2, 4}, 2, 4, 2, 4, {0, 0, 0, 8, 0, 0.1, 0.2, infinity}};
  const std::string svg = draw_heat_map(map);
  EXPECT_THAT(svg, HasSubstr("<title>y[0, 0..2]: error / threshold 0</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>y[0, 3]: error / threshold 8</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>y[1, 1..2]: error / threshold 0.2</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>y[1, 3]: NaN or infinity out of place</title>"));
}

TEST(Pictures, AHistogramNamesEveryCount) {
  const ErrorHistogram histogram{.first = -7,
                                 .target = {0, 5},
                                 .reference = {9, 0},
                                 .target_exact = 3,
                                 .reference_exact = 2,
                                 .target_not_finite = 1,
                                 .reference_not_finite = 0};
  const std::string svg = draw_histogram(histogram);
  for (const char* tip :
       {"target: 5 elements, from 1e-6", "reference: 9 elements, from 1e-7", "target: 3 elements, no error",
        "reference: 2 elements, no error", "target: 1 elements, not finite"})
    EXPECT_THAT(svg, HasSubstr(tip));
  EXPECT_THAT(svg, Not(HasSubstr("0 elements")));
}

TEST(Pictures, HaveNoNumberThatNoBrowserReads) {
  const std::vector<ErrorSamplePoint> points{
      {{{"n", 0}}, "zero", infinity, 0, true}, {{}, "", 0, 0, false}, {{{"n", 7}}, "x", 1e300, 1, true}};
  const std::string text = draw_error_by_shape(points) + draw_error_by_distribution(points) +
                           draw_histogram({}) + draw_heat_map({}) + draw_error_by_shape({});
  EXPECT_THAT(text, Not(HasSubstr("\"nan")));
  EXPECT_THAT(text, Not(HasSubstr("\"inf")));
  EXPECT_THAT(text, Not(HasSubstr("\"-")));
}

TriageReport report_of(const std::string& stranger) {
  TriageGroup group;
  group.signature = group.kernel = group.op = group.case_file = group.note = stranger;
  group.count = 3;
  group.findings = {{stranger, Kind::gate, stranger, stranger, 12.5, 3, 1700000000, 1700000000, true}};
  group.tensors = {{Pass::forward, stranger, stranger, {1}, false, 0, 1, 0, 0, 2, true, stranger, stranger}};
  group.suspects = {{Cause::indexing, 0.9, stranger}};
  group.cleared = {{Cause::premature_cast, 0, stranger}};
  group.commands = {stranger};
  group.map = ErrorMap{stranger, {1, 1}, 1, 1, 1, 1, {2}};
  group.samples = {{{{stranger, 3}}, stranger, 2, 1, true}};
  group.test_case.manifest = stranger;
  TriageReport report{stranger, stranger, {group, group}, {stranger}};
  report.groups[1].open = false;
  return report;
}

TEST(Page, PrintsNothingThatIsMarkup) {
  const std::string page =
      triage_page(report_of("\"'><script>alert(1)</script><img src=x onerror=alert(1)>&"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const std::string unquoted = std::regex_replace(page, std::regex("\"[^\"]*\""), "");
  EXPECT_FALSE(std::regex_search(unquoted, std::regex("<[^>]*onerror[^>]*>")));
}

TEST(Page, NeedsNothingElse) {
  const std::string page = triage_page(report_of("k"));
  for (const char* part : {"http://", "https://", "src=", "@import", "url(", "<link"})
    EXPECT_THAT(page, Not(HasSubstr(part)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("width=device-width"));
}

TEST(Page, CountsAndShowsEachGroup) {
  const std::string page = triage_page(report_of("k"));
  for (const char* part : {"1 fault open, 1 fixed", "all 2", "2023-11-14 22:13 UTC", "indexing and masks",
                           "12.5", "1 cleared", "3 hits"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(triage_page({"findings", "cpu", {}, {}}), HasSubstr("Nothing is wrong"));
}

} // namespace
} // namespace assay
