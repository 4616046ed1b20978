#include "harness/base/error.h"

#include <algorithm>
#include <iterator>

namespace assay {

std::string one_line(std::string text) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::none_of(text, control)) return text;
  std::string line;
  for (const char c : text) {
    if (c == '\n')
      line += "\\n";
    else if (c == '\t')
      line += "\\t";
    else if (control(c))
      fmt::format_to(std::back_inserter(line), "\\x{:02x}", static_cast<unsigned char>(c));
    else
      line += c;
  }
  return line;
}

std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

std::string to_string(const Error& error) {
  const std::string where = to_string(error.place);
  return where.empty() ? error.message : where + ": " + error.message;
}

int exit_code(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::user:
    return 2;
  case ErrorKind::environment:
    return 4;
  case ErrorKind::internal:
    return 70;
  }
  return 70;
}

} // namespace assay
