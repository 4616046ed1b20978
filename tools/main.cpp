// The assay command. Exit codes: 0 nothing wrong, 1 a finding or an expectation not met, 2 bad usage or bad
// input, 3 inconclusive, 4 the environment lacks what was asked for, 70 an internal fault.
#include "tools/command.h"
#include "tools/command_line.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace {

int fail(const std::string& message, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "assay: %s\n", message.c_str());
  return code;
}

bool is_dashes(std::string_view word) { return word == "--"; }

int run(int argc, char** argv) {
  assay::Invocation invocation;
  if (argc > 0 && std::string_view(argv[0]).find('/') != std::string_view::npos) invocation.program = argv[0];
  CLI::App app("Finds the inputs on which a GPU kernel computes the wrong numbers.", "assay");
  app.formatter(assay::help_formatter());
  app.footer("Example: assay fuzz kernels/softmax_naive/kernel.toml --time 60");
  app.set_version_flag("--version", ASSAY_VERSION);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error&) { return std::string(); });
  assay::add_fuzz(app, invocation);
  assay::add_verify(app, invocation);
  assay::add_replay(app, invocation);
  assay::add_minimize(app, invocation);
  assay::add_explain(app, invocation);
  assay::add_triage(app, invocation);
  assay::add_export(app, invocation);
  assay::add_run(app, invocation);
  assay::add_bench(app, invocation);
  assay::add_corpus(app, invocation);
  assay::add_list(app, invocation);

  assay::refuse_empty_values(app);

  std::vector<std::string> words = assay::command_words(argc, argv);
  const int dashes = static_cast<int>(std::find_if(argv, argv + argc, is_dashes) - argv);
  if (dashes < argc) invocation.after_dashes.assign(argv + dashes + 1, argv + argc);
  if (!invocation.after_dashes.empty() && (words.empty() || words.front() != "fuzz"))
    return fail("only fuzz takes words after --: libFuzzer's own flags", 2);
  std::ranges::reverse(words); // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error); // --help, --version
    return fail(assay::problem_of(error, app), 2);
  }
  if (!invocation.outcome) {
    const assay::Error& error = invocation.outcome.error();
    return fail((error.kind == assay::ErrorKind::internal ? "internal fault: " : "") + to_string(error),
                assay::exit_code(error.kind));
  }
  if (std::fflush(stdout) != 0) return fail("standard output cannot be written", 4);
  return *invocation.outcome;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) { // of a library; ours do not throw
    return fail("internal fault: " + assay::message_of(error), 70);
  }
}
