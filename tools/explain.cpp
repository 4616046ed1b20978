// assay explain: one case in full.
#include "fuzz/open_device.h"
#include "harness/report/text.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"
#include "harness/run/suspects.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/command_line.h"

#include <memory>

namespace assay {

namespace {

struct ExplainArguments {
  std::string case_file, device;
};

Outcome run_explain(const ExplainArguments& arguments) {
  ASSAY_TRY(const Case test_case, load_case(arguments.case_file));
  ASSAY_TRY(const auto manifest, find_manifest(test_case, arguments.case_file));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, *device));
  ASSAY_TRY(const Judgement judgement, judge(*kernel, test_case, {.mode = JudgeMode::on_this_input}));
  fmt::print("{}", explain_text(test_case, *kernel, judgement));
  for (const Finding& finding : judgement.findings) {
    ASSAY_TRY(const Diagnosis diagnosis, diagnose(*kernel, finding));
    fmt::print("\nsuspects of {}, 1 is certain\n{}", to_string(finding.signature),
               suspects_text(diagnosis.suspects, diagnosis.cleared, diagnosis.note));
  }
  return !judgement.findings.empty() ? 1 : judgement.inconclusive ? 3 : 0;
}

} // namespace

void add_explain(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* explain =
      app.add_subcommand("explain", "one case in full: tensors, quantities, verdict, where the error sits");
  explain->add_option("case", arguments->case_file, "a stored case")->option_text("CASE")->required();
  add_device(*explain, arguments->device);
  explain->footer("Example: assay explain corpus/max_drops_nan/max_drops_nan-forward-y-structure.case");
  explain->callback([arguments, &invocation] { invocation.outcome = run_explain(*arguments); });
}

} // namespace assay
