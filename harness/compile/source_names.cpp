#include "harness/compile/source_names.h"

#include <array>
#include <map>
#include <optional>
#include <span>

namespace assay {
namespace {

namespace fs = std::filesystem;

// The value of an option written "-Ivalue", "--name=value" or "--name value".
std::optional<std::string> value_of(const std::vector<std::string>& options, std::size_t& i,
                                    std::span<const std::string_view> names) {
  const std::string& option = options[i];
  for (const std::string_view name : names) {
    if (!option.starts_with(name)) continue;
    std::string rest = option.substr(name.size());
    if (rest.starts_with('=')) return rest.substr(1);
    if (!rest.empty() && name == "-I") return rest;
    if (rest.empty() && i + 1 < options.size()) return options[++i];
  }
  return std::nullopt;
}

std::string absolute_text(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::absolute(path, error);
  return (error ? path : result).lexically_normal().string();
}

} // namespace

OptionFiles files_in_options(const std::vector<std::string>& options) {
  static constexpr std::array<std::string_view, 2> dir_names = {"-I", "--include-path"};
  static constexpr std::array<std::string_view, 2> file_names = {"-include", "--pre-include"};
  OptionFiles found;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (const auto dir = value_of(options, i, dir_names))
      found.include_dirs.emplace_back(*dir);
    else if (const auto file = value_of(options, i, file_names))
      found.included.push_back(*file);
  }
  return found;
}

std::string with_names_as_written(std::string_view ptx, const std::vector<fs::path>& files) {
  std::map<std::string, std::string> written;
  for (const fs::path& file : files) written.emplace(absolute_text(file), file.lexically_normal().string());
  std::string result;
  result.reserve(ptx.size());
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    const std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(end);
    const std::size_t word = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t open = line.find('"');
    const std::size_t close = line.rfind('"');
    if (!line.substr(word).starts_with(".file") || open == close) {
      result += line;
      continue;
    }
    const std::string name(line.substr(open + 1, close - open - 1));
    const auto known = written.find(absolute_text(name));
    result += line.substr(0, open + 1);
    result += known == written.end() ? name : known->second;
    result += line.substr(close);
  }
  return result;
}

} // namespace assay
