// How the command line is shown and what is said of a wrong one; main.cpp reads it, the subcommands add to
// it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Help that fits 100 columns.
std::shared_ptr<CLI::Formatter> help_formatter();

// --device, as every command that runs a kernel has it; `otherwise` says what runs where it is left out.
void add_device(CLI::App& command, std::string& device,
                std::string_view otherwise = "cuda where there is one, else cpu");
// An option that names a file to be written.
void add_output_file(CLI::App& command, const std::string& name, std::string& file,
                     const std::string& description);

// From here on every option and argument of `app` and of its subcommands refuses a value without a letter,
// and says what belongs there.
void refuse_empty_values(CLI::App& app);

// The words up to "--": "--name=" is "--name" with an empty value, which CLI11 would take for one without.
std::vector<std::string> command_words(int argc, char** argv);

// What was wrong, with how to learn what is right: an option that does not exist first, then one that is
// given twice, then what CLI11 found. `app` has tried to parse.
std::string problem_of(const CLI::ParseError& error, const CLI::App& app);

// What a library's exception says, on one line.
std::string message_of(const std::exception& error);

} // namespace assay
