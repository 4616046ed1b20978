// The subcommands: each file adds its own to the application, with what happens when it is chosen.
#pragma once

#include "harness/base/error.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace assay {

// What main needs of a chosen subcommand: its exit code, or an error to print.
using Outcome = Result<int>;

struct Invocation {
  Outcome outcome = 0;
  std::string program = "assay";         // as the user called it: the path that he gave, if it is one
  std::vector<std::string> after_dashes; // the words behind "--"
};

// Of several exit codes the one that counts: a fault outweighs what could not be tried, and that what could
// not be concluded.
int worse(int a, int b);

void add_fuzz(CLI::App& app, Invocation& invocation);
void add_replay(CLI::App& app, Invocation& invocation);
void add_minimize(CLI::App& app, Invocation& invocation);
void add_explain(CLI::App& app, Invocation& invocation);
void add_corpus(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_export(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_triage(CLI::App& app, Invocation& invocation);
void add_verify(CLI::App& app, Invocation& invocation);

} // namespace assay
