// The assay command. Exit codes: 0 nothing wrong, 1 a finding or an expectation not met, 2 bad usage or bad
// input, 3 inconclusive, 4 the environment lacks what was asked for, 70 an internal fault.
#include "tools/command.h"

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

// CLI11 and other libraries may break their messages over lines; ours have one.
std::string message_of(const std::exception& error) {
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return assay::one_line(std::move(text));
}

// An option that does not exist is told before one that is missing.
std::string problem_of(const CLI::ParseError& error, const std::vector<CLI::App*>& commands) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty())
    if (const auto unknown = commands.front()->remaining(true); !unknown.empty())
      return message_of(CLI::ExtrasError(unknown));
  return message_of(error);
}

int run(int argc, char** argv) {
  assay::Invocation invocation;
  CLI::App app("Finds the inputs on which a GPU kernel computes the wrong numbers.", "assay");
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

  const auto dashes =
      std::find_if(argv, argv + argc, [](const char* arg) { return std::string_view(arg) == "--"; });
  if (dashes != argv + argc) invocation.after_dashes.assign(dashes + 1, argv + argc);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error); // --help, --version
    const auto commands = app.get_subcommands();
    const bool no_such_command = argc > 1 && argv[1][0] != '-' && commands.empty();
    return fail(fmt::format("{} (assay {}--help shows how it is called)",
                            no_such_command ? fmt::format("there is no command '{}'", argv[1])
                                            : problem_of(error, commands),
                            commands.empty() ? "" : commands.front()->get_name() + " "),
                2);
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
    return fail("internal fault: " + message_of(error), 70);
  }
}
