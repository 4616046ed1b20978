#include "harness/device/cuda/program.h"

#include "harness/compile/module_state.h"

#include <charconv>

namespace assay::cuda {

namespace {

bool is_word_end(char c) { return c == ';' || c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

} // namespace

PtxTraits traits_of(std::string_view ptx) {
  PtxTraits traits;
  int depth = 0; // of braces: module scope is 0
  for (std::size_t at = 0; at < ptx.size();) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    std::string_view line = ptx.substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find("//"));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (depth == 0 && line.starts_with(".extern") && line.find(".func") != std::string_view::npos &&
        line.find(" malloc") != std::string_view::npos)
      traits.heap = true;
    const std::size_t trap = line.find("trap");
    if (depth > 0 && trap != std::string_view::npos && trap + 4 < line.size() &&
        is_word_end(line[trap + 4]) && (trap == 0 || is_word_end(line[trap - 1])))
      traits.traps = true;
    for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  traits.state = keeps_state(ptx);
  return traits;
}

int line_of_log(std::string_view log) {
  const std::size_t at = log.find("line ");
  if (at == std::string_view::npos) return 0;
  int line = 0;
  std::from_chars(log.data() + at + 5, log.data() + log.size(), line);
  return line;
}

} // namespace assay::cuda
