#include "harness/compile/mlir_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <regex>
#include <sstream>

namespace assay {
namespace {

constexpr std::string_view standard_input = "<stdin>";

// The characters of a string attribute from behind its opening quote: \xx is a byte in hexadecimal, any other
// escaped character itself.
std::string attribute_text(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    unsigned byte = 0;
    const char* digits = text.data() + i + 1;
    if (i + 2 < text.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += text[++i];
    }
  }
  return result;
}

std::string with_source_named(std::string ptx, const std::string& source) {
  const std::string input = "\"" + std::string(standard_input) + "\"";
  for (std::size_t at = ptx.find(".file"); at != std::string::npos; at = ptx.find(".file", at + 1)) {
    const std::size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::size_t name = ptx.find(input, at);
    if (name < end) ptx.replace(name + 1, standard_input.size(), source);
  }
  return ptx;
}

int number(const std::ssub_match& digits) {
  int value = 0;
  const std::string text = digits.str();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Place place_of(const std::string& file, int line, int column, const std::string& source) {
  return file == standard_input || line == 0 ? Place{source, line, column} : Place{file, line, column};
}

// In a dump of a module that was to be translated, the first operation of another dialect.
std::optional<Error> first_not_lowered(const std::string& log, const std::string& source) {
  static const std::regex operation(R"re(^[ %\w:,=]*"([A-Za-z_]\w*)\.([\w.]+)"\()re"),
      location(R"re(loc\("([^"]*)":(\d+):(\d+)\)$)re");
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::smatch op, loc;
    if (!std::regex_search(line, op, operation)) continue;
    const std::string dialect = op[1].str();
    if (dialect == "llvm" || dialect == "nvvm" || dialect == "builtin" || op[2].str() == "module") continue;
    Error error{ErrorKind::user,
                fmt::format("no pass lowers '{}.{}', so that no PTX comes of it", dialect, op[2].str()),
                Place{source}};
    if (std::regex_search(line, loc, location))
      error.place = place_of(loc[1].str(), number(loc[2]), number(loc[3]), source);
    return error;
  }
  return std::nullopt;
}

// The message of an error in the pipeline without the names of MLIR's parsers; where it is empty, the log's
// first line says more.
std::string about_pipeline(const std::string& message, const std::string& log) {
  static const std::regex parser(
      R"(^(MLIR Textual PassPipeline Parser:\d+:\d+: error|<[\w-]+>|mlir-opt[\w-]*): )");
  return std::regex_replace(message.empty() ? log.substr(0, log.find('\n')) : message, parser, "");
}

} // namespace

std::vector<MlirBinary> mlir_binaries(std::string_view out, const std::string& source) {
  constexpr std::string_view operation = "gpu.binary @", attribute = "assembly = \"";
  std::vector<MlirBinary> binaries;
  for (std::size_t at = out.find(operation); at != std::string_view::npos; at = out.find(operation, at + 1)) {
    const std::size_t name = at + operation.size();
    const std::size_t end = out.find_first_of(" \t\n", name);
    const std::size_t text = out.find(attribute, name);
    if (text == std::string_view::npos) break;
    binaries.push_back({std::string(out.substr(name, end - name)),
                        with_source_named(attribute_text(out.substr(text + attribute.size())), source)});
  }
  return binaries;
}

Error first_mlir_error(std::string_view log, const std::string& source) {
  static const std::regex diagnostic(R"(^(.+?):(\d+)(?::(\d+))?: error: (.*)$)");
  const std::string text(log);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("LLVM ERROR: "))
      return Error{ErrorKind::user, line.substr(std::string_view("LLVM ERROR: ").size()), Place{source}};
    if (!std::regex_match(line, match, diagnostic)) continue;
    if (number(match[2]) == 0) // nothing of the source: the pipeline
      return Error{ErrorKind::user, fmt::format("options: {}", about_pipeline(match[4].str(), text)),
                   Place{source}};
    if (match[4].str().contains("unrealized_conversion_cast") || match[4].str().contains("LLVM Translation"))
      if (std::optional<Error> error = first_not_lowered(text, source)) return *std::move(error);
    return Error{ErrorKind::user, match[4].str(),
                 place_of(match[1].str(), number(match[2]), number(match[3]), source)};
  }
  return Error{ErrorKind::user, "mlir-opt refuses it without saying why", Place{source}};
}

} // namespace assay
