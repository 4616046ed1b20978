// assay replay: stored cases as a regression test.
#include "harness/run/replay.h"

#include "fuzz/open_device.h"
#include "harness/report/github.h"
#include "harness/report/json.h"
#include "harness/report/junit.h"
#include "harness/report/text.h"
#include "tools/case_file.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/console.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"
#include "tools/text.h"

#include <cstdio>
#include <memory>

namespace assay {

namespace {

struct ReplayArguments {
  std::vector<std::string> paths;
  std::string device, kernel, junit, json;
  bool github = false;
};

// What cannot be read or run is told, and the others are still worth running.
ReplayOutcome not_run(const std::filesystem::path& file, const Error& error) {
  return {.file = file,
          .line = error.place.file == file.string() ? error.place.line : 0,
          .status = ReplayStatus::error,
          .why = to_string(error),
          .notes = {},
          .judgement = {}};
}

Result<ReplayOutcome> replay_file(const std::filesystem::path& file, KernelCache& kernels,
                                  const std::optional<std::filesystem::path>& replacement) {
  ASSAY_TRY(const Case test_case, load_case(file));
  return replay(test_case, file, kernels, replacement);
}

Outcome run_replay(const ReplayArguments& arguments) {
  std::optional<std::filesystem::path> replacement;
  if (!arguments.kernel.empty()) {
    ASSAY_TRY(replacement, resolve_manifest(arguments.kernel));
  }
  ASSAY_TRY(const auto files, case_files(arguments.paths));
  ASSAY_TRY_VOID(check_output_files(std::vector{arguments.json, arguments.junit}));
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  KernelCache kernels(*device, {.named_by_user = !arguments.kernel.empty()});
  Console console;
  std::vector<ReplayOutcome> outcomes;
  std::vector<Error> errors;
  int code = 0;
  for (const auto& file : files) {
    auto outcome = replay_file(file, kernels, replacement);
    if (!outcome) {
      if (files.size() == 1 && arguments.paths.front() == file) return std::unexpected(outcome.error());
      errors.push_back(outcome.error());
      code = worse(code, exit_code(outcome.error().kind));
      outcome = not_run(file, outcome.error());
    } else if (outcome->status != ReplayStatus::passed) {
      code = 1;
    }
    outcomes.push_back(*std::move(outcome));
    if (console.progress_due())
      console.progress(fmt::format("replayed {} of {} cases", outcomes.size(), files.size()));
  }
  console.clear();
  fmt::print("{}", replay_text(outcomes));
  if (arguments.github) fmt::print("{}", github_annotations(outcomes));
  ASSAY_TRY_VOID(write_output(arguments.json, replay_json(outcomes)));
  ASSAY_TRY_VOID(write_output(arguments.junit, junit_xml(outcomes)));
  if (!errors.empty()) {
    std::fflush(stdout);
    console.note("assay: " +
                 (errors.size() == 1
                      ? to_string(errors.front())
                      : fmt::format("{} of {} could not be read or run; the first: {}", errors.size(),
                                    counted(files.size(), "case"), to_string(errors.front()))));
  }
  return code;
}

} // namespace

void add_replay(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* replay = app.add_subcommand("replay", "run stored cases again, each against its own expectation");
  replay->add_option("path", arguments->paths, "cases, or folders of cases")
      ->option_text("PATH ...")
      ->required();
  add_device(*replay, arguments->device);
  replay
      ->add_option("--kernel", arguments->kernel,
                   "a manifest in place of the recorded one; every case is to pass on it")
      ->option_text("KERNEL.toml");
  add_output_file(*replay, "--junit", arguments->junit, "write JUnit XML to this file");
  replay->add_flag("--github", arguments->github, "print GitHub's annotations too");
  add_output_file(*replay, "--json", arguments->json, "write the outcomes to this file");
  replay->footer("Example: assay replay corpus/softmax_no_max --junit report.xml");
  replay->callback([arguments, &invocation] { invocation.outcome = run_replay(*arguments); });
}

} // namespace assay
