#include "tests/ptx/program.h"

#include "harness/base/files.h"
#include "harness/cases/expression.h"
#include "harness/compile/compile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

namespace assay::ptx_tests {
namespace {

std::string rest_of(std::istringstream& line) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  return rest;
}

Result<void> read_launch(CudaProgram& program, std::istringstream& line, const Place& place) {
  for (std::string word; line >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::uint64_t* into = name == "grid"     ? &program.grid
                          : name == "block"  ? &program.block
                          : name == "words"  ? &program.words
                          : name == "budget" ? &program.budget
                                             : nullptr;
    if (!into || equals == std::string::npos) return user_error(place, "'{}' is no part of a launch", word);
    *into = std::stoull(word.substr(equals + 1));
  }
  return {};
}

Result<void> read_line(CudaProgram& program, const std::string& text, const Place& place) {
  std::istringstream line(text);
  std::string key;
  line >> key;
  if (key == "launch") return read_launch(program, line, place);
  if (key == "arch") {
    program.architectures.clear();
    for (std::string word; line >> word;) program.architectures.push_back(word);
  } else if (key == "expect") {
    program.expect = rest_of(line);
  } else if (key == "prints") {
    program.prints = rest_of(line);
  } else if (key == "fault") {
    line >> program.fault_kind;
    program.fault_text = rest_of(line);
  } else if (key == "unsupported") {
    program.unsupported = rest_of(line);
  } else {
    return user_error(place, "unknown '{}'", key);
  }
  return {};
}

std::string faults_text(const LaunchReport& report) {
  std::string text;
  for (const Fault& fault : report.faults)
    if (!fault.note) text += fault.message + "\n";
  return text;
}

std::string compare_faults(const CudaProgram& program, const LaunchReport& report, bool twin) {
  if (twin || program.fault_kind.empty()) return faults_text(report);
  for (const Fault& fault : report.faults)
    if (!fault.note && name_of(fault.kind) == program.fault_kind &&
        fault.message.find(program.fault_text) != std::string::npos)
      return "";
  return "no fault of kind " + program.fault_kind + " with '" + program.fault_text +
         "', but: " + faults_text(report);
}

Result<std::string> compare_words(const CudaProgram& program, const std::vector<std::uint32_t>& words) {
  if (program.expect.empty()) return std::string();
  ASSAY_TRY(const Expression expected, Expression::parse(program.expect, {program.path, 0, 0}));
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSAY_TRY(const std::int64_t value, expected.evaluate([i](std::string_view) {
      return std::optional<std::int64_t>(static_cast<std::int64_t>(i));
    }));
    if (static_cast<std::uint32_t>(value) != words[i])
      return fmt::format("out[{}] is {}, not {}", i, words[i], static_cast<std::uint32_t>(value));
  }
  return std::string();
}

} // namespace

Result<CudaProgram> read_program(const std::string& path) {
  CudaProgram program;
  program.path = path;
  ASSAY_TRY(program.text, read_file(path));
  std::istringstream lines(program.text);
  int number = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with("//!");)
    ASSAY_TRY_VOID(read_line(program, line.substr(3), {path, ++number, 0}));
  return program;
}

Result<std::string> run_program(const CudaProgram& program, const std::string& architecture, Device& device,
                                std::uint64_t seed, bool twin) {
  CompileRequest request{program.path, program.text, {"test"}, {}, {"--device-int128"}, architecture};
  if (twin) request.options.push_back("--define-macro=RIGHT");
  ASSAY_TRY(const PtxSource ptx, compile(request));
  auto loaded = device.load(ptx);
  if (!program.unsupported.empty()) {
    if (loaded) return std::string("it is supported");
    const bool said = loaded.error().kind == ErrorKind::environment &&
                      loaded.error().message.find(program.unsupported) != std::string::npos;
    return said ? "" : to_string(loaded.error());
  }
  if (!loaded) return std::unexpected(loaded.error());
  device.release_all();
  ASSAY_TRY(const BufferId out, device.allocate({.name = "out",
                                                 .role = BufferRole::output,
                                                 .dtype = DType::i32,
                                                 .shape = {static_cast<std::int64_t>(program.words)},
                                                 .initialized = false},
                                                {}));
  LaunchSpec spec;
  spec.entry = "test";
  spec.grid = {program.grid, 1, 1};
  spec.block = {program.block, 1, 1};
  spec.args = {out};
  spec.schedule_seed = seed;
  spec.step_budget = program.budget;
  testing::internal::CaptureStderr();
  auto report = device.launch(**loaded, spec);
  const std::string printed = testing::internal::GetCapturedStderr();
  if (!report) return std::unexpected(report.error());
  if (std::string problem = compare_faults(program, *report, twin); !problem.empty()) return problem;
  if (printed.find(program.prints) == std::string::npos) return "it printed: " + printed;
  if (!program.fault_kind.empty() && !twin) return std::string();
  std::vector<std::uint32_t> words(program.words);
  ASSAY_TRY_VOID(device.read(out, std::as_writable_bytes(std::span(words))));
  return compare_words(program, words);
}

} // namespace assay::ptx_tests
