// assay triage: findings grouped into faults, with suspects and what to do next.
#include "harness/report/triage.h"

#include "fuzz/open_device.h"
#include "harness/compile/compile.h"
#include "harness/report/triage_collect.h"
#include "harness/report/triage_page.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/console.h"
#include "tools/output_file.h"

#include <algorithm>
#include <memory>
#include <thread>

namespace assay {

namespace {

struct TriageArguments {
  std::string program, folder, device, json, html;
};

Outcome run_triage(const TriageArguments& arguments) {
  ASSAY_TRY_VOID(check_output_files(std::vector{arguments.json, arguments.html}));
  const std::string device = arguments.device.empty() ? default_device() : arguments.device;
  ASSAY_TRY_VOID(open_loading_device(device)); // there is such a device
  Console console;
  const TriageOptions options{
      .program = arguments.program,
      .device = device,
      .open_device = [&] { return open_device(device); },
      // Processes take turns on a GPU.
      .jobs = device == "cpu" ? std::clamp(std::thread::hardware_concurrency(), 1u, 16u) : 1u,
      .cache_dir = default_cache_dir()};
  ASSAY_TRY(const TriageReport report,
            collect_triage(arguments.folder, options, [&](std::size_t done, std::size_t planned) {
              if (console.progress_due()) console.progress(fmt::format("{} of {} cases", done, planned));
            }));
  console.clear();
  fmt::print("{}", triage_text(report));
  ASSAY_TRY_VOID(write_output(arguments.json, triage_json(report)));
  ASSAY_TRY_VOID(write_output(arguments.html, triage_page(report)));
  if (report.groups.empty() && !report.unread.empty())
    return user_error({arguments.folder}, "no case of it could be read and run");
  const bool open = std::ranges::any_of(report.groups, &TriageGroup::open);
  return open ? 1 : report.unread.empty() ? 0 : 2;
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
  add_output_file(*triage, "--json", arguments->json, "write the groups to this file");
  add_output_file(*triage, "--html", arguments->html, "write them, with pictures, as one page to this file");
  add_device(*triage, arguments->device);
  triage->footer("Example: assay triage findings --html triage.html");
  triage->callback([arguments, &invocation] {
    arguments->program = invocation.program;
    invocation.outcome = run_triage(*arguments);
  });
}

} // namespace assay
