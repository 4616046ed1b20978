// assay replay: stored cases as a regression test.
#include "harness/run/replay.h"

#include "fuzz/open_device.h"
#include "harness/report/github.h"
#include "harness/report/json.h"
#include "harness/report/junit.h"
#include "harness/report/text.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/console.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"

#include <algorithm>
#include <memory>

namespace assay {

namespace {

struct ReplayArguments {
  std::vector<std::string> paths;
  std::string device, kernel, junit, json;
  bool github = false;
};

Outcome run_replay(const ReplayArguments& arguments) {
  std::optional<std::filesystem::path> replacement;
  if (!arguments.kernel.empty()) {
    ASSAY_TRY(replacement, resolve_manifest(arguments.kernel));
  }
  ASSAY_TRY(const auto files, case_files(arguments.paths));
  std::vector<Case> cases; // all are read before the first runs
  for (const auto& file : files) {
    ASSAY_TRY(Case test_case, load_case(file));
    cases.push_back(std::move(test_case));
  }
  ASSAY_TRY_VOID(check_writable(arguments.json));
  ASSAY_TRY_VOID(check_writable(arguments.junit));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  KernelCache kernels(*device, {.named_by_user = !arguments.kernel.empty()});
  Console console;
  std::vector<ReplayOutcome> outcomes;
  std::optional<Error> bad_input; // the first
  std::size_t ran = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto outcome = replay(cases[i], files[i], kernels, replacement);
    if (outcome) {
      outcomes.push_back(*std::move(outcome));
      ++ran;
    } else if (outcome.error().kind == ErrorKind::user) { // the other cases are still worth running
      outcomes.push_back({.file = files[i],
                          .line = outcome.error().place.line,
                          .status = ReplayStatus::error,
                          .why = to_string(outcome.error()),
                          .notes = {},
                          .judgement = {}});
      if (!bad_input) bad_input = outcome.error();
    } else {
      return std::unexpected(outcome.error());
    }
    if (console.progress_due()) console.progress(fmt::format("replayed {} of {} cases", i + 1, cases.size()));
  }
  console.clear();
  if (ran == 0 && bad_input) return std::unexpected(*bad_input);
  fmt::print("{}", replay_text(outcomes));
  if (arguments.github) fmt::print("{}", github_annotations(outcomes));
  if (!arguments.json.empty()) ASSAY_TRY_VOID(write_output(arguments.json, replay_json(outcomes)));
  if (!arguments.junit.empty()) ASSAY_TRY_VOID(write_output(arguments.junit, junit_xml(outcomes)));
  if (bad_input) return std::unexpected(*bad_input);
  return std::ranges::all_of(outcomes,
                             [](const ReplayOutcome& o) { return o.status == ReplayStatus::passed; })
             ? 0
             : 1;
}

} // namespace

void add_replay(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* replay = app.add_subcommand("replay", "run stored cases again, each against its own expectation");
  replay->add_option("path", arguments->paths, "cases, or folders of cases")
      ->option_text("PATH ...")
      ->required();
  replay->add_option("--device", arguments->device, "cpu, cuda or cuda:N; cuda where there is one, else cpu");
  replay->add_option("--kernel", arguments->kernel,
                     "a manifest in place of the recorded one; every case is to pass on it");
  replay->add_option("--junit", arguments->junit, "write JUnit XML to this file");
  replay->add_flag("--github", arguments->github, "print GitHub's annotations too");
  replay->add_option("--json", arguments->json, "write the outcomes to this file");
  replay->callback([arguments, &invocation] { invocation.outcome = run_replay(*arguments); });
}

} // namespace assay
