// The page of triage, made by the real command from real findings, in a real browser.
#include "tests/campaign/browser.h"
#include "tests/end_to_end/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(TriagePage, IsOpenedAndClickedThrough) {
  const auto program = Browser::find();
  if (!program) GTEST_SKIP() << "no Chromium here: apt-get install chromium";
  const TemporaryFolder folder;
  fs::create_directories(folder / "findings");
  for (const char* kernel : {"softmax_no_max", "max_starts_at_zero", "sum_reads_past_tail"})
    fs::copy(checkout() / "corpus" / kernel, folder.path() / "findings" / kernel,
             fs::copy_options::recursive);
  const std::string open_case =
      slurp(checkout() / "corpus/softmax_no_max/softmax_no_max-forward-y-structure.case");
  folder.write("findings/softmax_fixed/fixed.case",
               replaced(open_case, "kernels/faulty/softmax_no_max", "kernels/softmax"));
  const ProgramRun run = run_assay({"triage", folder / "findings", "--html", folder / "triage.html"});
  ASSERT_EQ(run.exit, 1) << run.out << run.err;

  Browser browser(*program, folder / "triage.html");
  const auto value = [&](const std::string& script) { return browser.evaluate(script); };
  const int groups = value("document.querySelectorAll('details.group').length");
  EXPECT_GE(groups, 3);
  EXPECT_EQ(value("performance.getEntriesByType('resource').length"), 0) << "it needs nothing else";
  EXPECT_EQ(value("document.scripts.length"), 0);
  EXPECT_GE(value("document.querySelectorAll('details.group svg').length").get<int>(), groups);
  EXPECT_THAT(value("document.querySelector('#counts').textContent").get<std::string>(), HasSubstr("open"));

  const std::string visible =
      "[...document.querySelectorAll('details.group')].filter(e => e.offsetParent !== null).length";
  const int fixed = value("document.querySelectorAll('.is-fixed').length");
  EXPECT_GE(fixed, 1);
  browser.click("label[for=fixed]");
  EXPECT_EQ(value(visible), fixed);
  browser.click("label[for=open]");
  EXPECT_EQ(value(visible), groups - fixed);
  browser.click("label[for=all]");
  EXPECT_EQ(value(visible), groups);

  EXPECT_EQ(value("document.querySelector('#g-2').open"), false);
  browser.click("#g-2 > summary");
  EXPECT_EQ(value("document.querySelector('#g-2').open"), true);
  EXPECT_GT(value("document.querySelector('#g-2 svg').getBoundingClientRect().height").get<double>(), 50);
  browser.click("#g-2 > summary");
  EXPECT_EQ(value("document.querySelector('#g-2').open"), false);
  browser.click("a[href='#group-3']");
  EXPECT_EQ(value("document.querySelector('#g-3').open"), true) << "a link opens the group it leads to";

  const char* keep = std::getenv("ASSAY_KEEP_SCREENSHOTS"); // a folder, for people who want to look
  for (const auto& [name, width, height, phone] :
       {std::tuple{"phone", 390, 844, true}, std::tuple{"desktop", 1280, 900, false}}) {
    browser.resize(width, height, phone);
    EXPECT_LE(value("document.documentElement.scrollWidth").get<int>(), width)
        << name << ": nothing sticks out sideways";
    value("document.querySelector('#g-1').open = true, document.querySelector('#g-1').scrollIntoView()");
    const double text = value(
        "(() => { const t = document.querySelector('#g-1 svg text'); return 11 * t.getScreenCTM().a; })()");
    EXPECT_GE(text, 9.5) << name << ": the pictures' texts can be read";
    const fs::path file =
        fs::path(keep != nullptr ? keep : folder.path().string()) / (std::string(name) + ".png");
    browser.save_screenshot(file);
    EXPECT_GT(fs::file_size(file), 10'000u) << name;
  }
}

} // namespace
} // namespace assay::testing
