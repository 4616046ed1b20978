#include "harness/compile/includes.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The text with spliced lines joined and every comment replaced by a space; literals stay, and hide comment
// marks.
std::string without_comments(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1).starts_with('\n'))
      ++i;
    else if (text[i] == '\\' && text.substr(i + 1).starts_with("\r\n"))
      i += 2;
    else
      joined += text[i];
  }
  std::string result;
  result.reserve(joined.size());
  const std::string_view all = joined;
  for (std::size_t i = 0; i < all.size();) {
    const std::string_view rest = all.substr(i);
    std::size_t length = 1;
    if (rest.starts_with("//")) {
      i += std::min(rest.find('\n'), rest.size());
      continue;
    }
    if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      i += end == std::string_view::npos ? rest.size() : end + 2;
      result += ' ';
      continue;
    }
    if (rest.starts_with("R\"") && (i == 0 || !is_word(all[i - 1]))) { // R"tag( ... )tag"
      const std::size_t open = rest.find('(');
      if (open <= 18) { // a tag has at most 16 characters
        const std::string closing = ")" + std::string(rest.substr(2, open - 2)) + "\"";
        const std::size_t end = rest.find(closing, open);
        length = end == std::string_view::npos ? rest.size() : end + closing.size();
        result += "\"\""; // its lines are no directives
        i += length;
        continue;
      }
    }
    const bool separator = rest[0] == '\'' && i > 0 && is_word(all[i - 1]); // 1'000
    if ((rest[0] == '"' || rest[0] == '\'') && !separator) {
      while (length < rest.size() && rest[length] != rest[0] && rest[length] != '\n')
        length += rest[length] == '\\' ? 2 : 1;
      length = std::min(length + 1, rest.size());
    }
    result += rest.substr(0, length);
    i += length;
  }
  return result;
}

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\r'))
    text.remove_prefix(1);
  return text;
}

// "name" or <name> at the head of `text`.
bool take_name(std::string_view text, std::vector<IncludeName>& names) {
  text = skip_blanks(text);
  if (text.empty() || (text.front() != '"' && text.front() != '<')) return false;
  const bool quoted = text.front() == '"';
  const std::size_t end = text.find(quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return false;
  names.push_back({std::string(text.substr(1, end - 1)), quoted});
  return true;
}

void take_has_includes(std::string_view line, std::vector<IncludeName>& names, bool& computed) {
  constexpr std::string_view word = "__has_include";
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    std::string_view rest = skip_blanks(line.substr(at + word.size()));
    if (rest.starts_with('(') && !take_name(rest.substr(1), names)) computed = true;
  }
}

bool is_device_or_pipe(const fs::file_status& status) {
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

Error no_file(const fs::path& file, std::string_view text, const std::string& name) {
  const std::size_t at = std::min(text.find(name), text.size());
  const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
  return {ErrorKind::user, one_line(fmt::format("includes {}, which is not a regular file", name)),
          Place{file.string(), static_cast<int>(line), 0}};
}

} // namespace

std::vector<IncludeName> includes_of(std::string_view text, bool& computed) {
  const std::string code = without_comments(text);
  std::vector<IncludeName> names;
  for (std::size_t start = 0; start < code.size();) {
    const std::size_t end = std::min(code.find('\n', start), code.size());
    std::string_view line = skip_blanks(std::string_view(code).substr(start, end - start));
    start = end + 1;
    if (line.starts_with("%:"))
      line.remove_prefix(1); // the digraph of #
    else if (!line.starts_with('#'))
      continue;
    line = skip_blanks(line.substr(1));
    const bool includes = line.starts_with("include");
    if (includes && (line.starts_with("include_next") || !take_name(line.substr(7), names))) computed = true;
    take_has_includes(line, names, computed);
  }
  return names;
}

IncludeScan scan_includes(const fs::path& source, std::string_view text, const std::vector<fs::path>& dirs) {
  IncludeScan scan;
  std::set<fs::path> seen;
  const auto visit = [&](const fs::path& file, std::string_view content) {
    const fs::path folder = file.parent_path();
    for (const IncludeName& include : includes_of(content, scan.computed)) {
      std::vector<fs::path> places = dirs;
      if (include.quoted) places.insert(places.begin(), folder);
      for (const fs::path& place : places) {
        const fs::path candidate = place / include.name;
        std::error_code error;
        const fs::file_status status = fs::status(candidate, error);
        if (is_device_or_pipe(status) && !scan.no_file) scan.no_file = no_file(file, content, include.name);
        if (!fs::is_regular_file(status)) continue;
        scan.names.insert(include.name);
        if (!seen.insert(candidate.lexically_normal()).second) break;
        if (Result<std::string> read = read_file(candidate))
          scan.files.push_back({candidate, *std::move(read)});
        break;
      }
    }
  };
  visit(source, text);
  for (std::size_t i = 0; i < scan.files.size(); ++i) { // grows while it is walked
    const IncludedFile file = scan.files[i];
    visit(file.path, file.text);
  }
  return scan;
}

std::string hash_with_includes(std::string_view text, const IncludeScan& scan) {
  std::string all(text);
  for (const IncludedFile& file : scan.files) {
    all += '\0';
    all += file.text;
  }
  return content_hash(all);
}

} // namespace assay
