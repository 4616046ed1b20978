// assay minimize: one failing case made small.
#include "harness/reduce/minimize.h"

#include "fuzz/open_device.h"
#include "fuzz/same_fault.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/console.h"
#include "tools/output_file.h"
#include "tools/text.h"

#include <algorithm>
#include <memory>

namespace assay {

namespace {

struct MinimizeArguments {
  std::string case_file, device, out;
};

// The leading finding that the case expects, else the first.
Finding chosen_finding(const Case& test_case, const Judgement& judgement) {
  const std::vector<Finding> candidates = leading(judgement.findings);
  const auto expected = std::ranges::find_if(candidates, [&](const Finding& finding) {
    return to_string(finding.signature) == test_case.expect.signature;
  });
  return expected != candidates.end() ? *expected : candidates.front();
}

Outcome run_minimize(const MinimizeArguments& arguments) {
  ASSAY_TRY(const Case test_case, load_case(arguments.case_file));
  ASSAY_TRY(const auto manifest, find_manifest(test_case, arguments.case_file));
  ASSAY_TRY_VOID(check_output_file(arguments.out, ".case"));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, *device));
  ASSAY_TRY(const Judgement judgement, judge(*kernel, test_case, {.mode = JudgeMode::on_this_input}));
  if (judgement.findings.empty())
    return user_error(Place{arguments.case_file},
                      "does not fail on this kernel, so there is nothing to keep while shrinking");
  const Finding finding = chosen_finding(test_case, judgement);
  Console console;
  std::size_t tried = 0;
  const ShouldKeep same_fault = shows_same_fault(*kernel, finding);
  const auto should_keep = [&](const Case& candidate) {
    ++tried;
    if (console.progress_due())
      console.progress(fmt::format("{}: {} tried", to_string(finding.signature), counted(tried, "case")));
    return same_fault(candidate);
  };
  const Minimized smallest =
      minimize(test_case, kernel->space(), should_keep, {.time = std::chrono::minutes(1)});
  console.clear();
  fmt::print(stderr, "{}: {} tried, {} kept, {} off the base value{}\n", to_string(finding.signature),
             counted(smallest.runs, "case"), smallest.steps,
             counted(elements_off_base(smallest.test_case, kernel->space()), "element"),
             smallest.complete ? "" : "; stopped by the time limit");
  const std::string text = to_text(smallest.test_case);
  if (arguments.out.empty()) {
    fmt::print("{}", text);
  } else {
    ASSAY_TRY_VOID(write_output(arguments.out, text));
  }
  return 0;
}

} // namespace

void add_minimize(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<MinimizeArguments>();
  CLI::App* minimize = app.add_subcommand("minimize", "shrink one failing case, keeping its signature");
  minimize->add_option("case", arguments->case_file, "a stored case")->option_text("CASE")->required();
  add_device(*minimize, arguments->device);
  add_output_file(*minimize, "--out", arguments->out, "the file to write; standard output otherwise");
  minimize->footer(
      "Example: assay minimize corpus/add_rounds_up/add_rounds_up-forward-y-ulp.case --out small.case");
  minimize->callback([arguments, &invocation] { invocation.outcome = run_minimize(*arguments); });
}

} // namespace assay
