#include "harness/compile/nvrtc_log.h"

#include <charconv>
#include <optional>
#include <vector>

namespace assay {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// `file(line): error: message`, also `catastrophic error: ...` and `error #177-D: ...`.
std::optional<Error> parse_error_line(std::string_view line) {
  for (std::size_t colon = line.find("): "); colon != std::string_view::npos;
       colon = line.find("): ", colon + 1)) {
    std::string_view rest = line.substr(colon + 3);
    for (const std::string_view severity : {"catastrophic ", "fatal ", "internal "})
      if (rest.starts_with(severity)) rest.remove_prefix(severity.size());
    if (!rest.starts_with("error")) continue;
    const std::size_t message = rest.find(": ");
    const std::size_t open = line.rfind('(', colon);
    if (message == std::string_view::npos || open == std::string_view::npos) continue;
    Error error{ErrorKind::user, std::string(rest.substr(message + 2)),
                Place{std::string(line.substr(0, open))}};
    const auto number = std::from_chars(line.data() + open + 1, line.data() + colon, error.place.line);
    if (number.ec == std::errc() && number.ptr == line.data() + colon) return error;
  }
  return std::nullopt;
}

// The log shows the source line, indented by two, and a caret below the place. Explanations may stand
// between.
int caret_column(const std::vector<std::string_view>& lines, std::size_t error_line) {
  for (std::size_t i = error_line + 1; i < lines.size() && !lines[i].empty(); ++i) {
    const std::size_t caret = lines[i].find_first_not_of(' ');
    if (caret != std::string_view::npos && caret >= 2 && lines[i].substr(caret) == "^")
      return static_cast<int>(caret - 1);
  }
  return 0;
}

// NVRTC appends the name expressions to the source as #pragma lines of a file of its own.
constexpr std::string_view name_map = "__nv_name_map";
constexpr std::string_view name_pragma = "#pragma nv_mangled_name ";

std::string wrong_name(const std::vector<std::string_view>& lines, std::size_t error_line) {
  for (std::size_t i = error_line + 1; i < lines.size(); ++i)
    if (const std::size_t at = lines[i].find(name_pragma); at != std::string_view::npos)
      return std::string(lines[i].substr(at + name_pragma.size()));
  return {};
}

} // namespace

Error first_error(std::string_view log, const std::string& source) {
  const std::vector<std::string_view> lines = lines_of(log);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::optional<Error> error = parse_error_line(lines[i]);
    if (!error) continue;
    if (error->place.file == name_map)
      return Error{ErrorKind::user, fmt::format("no kernel '{}': {}", wrong_name(lines, i), error->message),
                   Place{source}};
    error->place.column = caret_column(lines, i);
    return *std::move(error);
  }
  constexpr std::string_view own = "nvrtc: error: ";
  for (const std::string_view line : lines)
    if (line.starts_with(own))
      return Error{ErrorKind::user,
                   fmt::format("NVRTC does not take the options: {}", line.substr(own.size())),
                   Place{source}};
  return Error{ErrorKind::user,
               fmt::format("does not compile: {}", lines.empty() ? "(no log)" : lines.front()),
               Place{source}};
}

} // namespace assay
