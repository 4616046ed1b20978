// assay triage: findings grouped into faults, with suspects and what to do next.
#include "harness/report/triage.h"

#include "fuzz/open_device.h"
#include "harness/base/files.h"
#include "harness/report/triage_collect.h"
#include "harness/report/triage_page.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/output_file.h"
#include "tools/text.h"

#include <algorithm>
#include <memory>

namespace assay {

namespace {

struct TriageArguments {
  std::string folder, device, json, html;
};

Outcome run_triage(const TriageArguments& arguments) {
  for (const std::string& file : {arguments.json, arguments.html}) ASSAY_TRY_VOID(check_writable(file));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  Console console;
  ASSAY_TRY(const TriageReport report,
            collect_triage(arguments.folder, *device, {.program = command_name()},
                           [&](std::size_t done, std::size_t planned, const std::string& what) {
                             if (console.progress_due())
                               console.progress(fmt::format("{} of {}: {}", done + 1, planned, what));
                           }));
  console.clear();
  fmt::print("{}", triage_text(report));
  if (!arguments.json.empty()) ASSAY_TRY_VOID(write_output(arguments.json, triage_json(report)));
  if (!arguments.html.empty()) ASSAY_TRY_VOID(write_output(arguments.html, triage_page(report)));
  if (report.groups.empty() && !report.unread.empty())
    return user_error({arguments.folder}, "no case of it could be read and run");
  const bool open = std::ranges::any_of(report.groups, &TriageGroup::open);
  return open || !report.unread.empty() ? 1 : 0;
}

} // namespace

void add_triage(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<TriageArguments>();
  CLI::App* triage = app.add_subcommand(
      "triage",
      "findings grouped into faults: suspects with evidence, where the error sits, what to run next");
  triage->add_option("folder", arguments->folder, "a campaign's output, or a corpus")
      ->option_text("DIR")
      ->required();
  triage->add_option("--json", arguments->json, "write the groups to this file");
  triage->add_option("--html", arguments->html, "write them, with pictures, as one page to this file");
  triage->add_option("--device", arguments->device, "cpu, cuda or cuda:N; cuda where there is one, else cpu");
  triage->callback([arguments, &invocation] { invocation.outcome = run_triage(*arguments); });
}

} // namespace assay
