#include "harness/device/cpu/ptx/source_place.h"

#include <charconv>
#include <filesystem>

namespace assay::ptx {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  const std::string_view rest = text.substr(word.size());
  if (rest.empty() || (rest.front() != ' ' && rest.front() != '\t')) return false;
  text = trimmed(rest);
  return true;
}

int take_number(std::string_view& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return 0;
  text = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

// The last .loc before a line of PTX, in its function; compilers give one directive a line.
struct Loc {
  int file = 0, line = 0;
};

Loc loc_before(std::string_view text, int line) {
  Loc loc;
  for (int at = 1; at <= line && !text.empty(); ++at) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (one.starts_with('.') && (one.contains(".entry") || one.contains(".func"))) loc = {};
    if (!take_word(one, ".loc")) continue;
    loc.file = take_number(one);
    loc.line = take_number(one);
  }
  return loc;
}

std::string_view file_named(std::string_view text, int number) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view one = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!take_word(one, ".file") || take_number(one) != number || !one.starts_with('"')) continue;
    return one.substr(1, one.find('"', 1) - 1);
  }
  return {};
}

} // namespace

Error at_its_source(Error error, std::string_view text, std::string_view origin) {
  namespace fs = std::filesystem;
  const fs::path source = origin;
  if (error.place.line <= 0 || error.place.file != origin || source.extension() == ".ptx") return error;
  const Loc loc = loc_before(text, error.place.line);
  const std::string_view file = loc.file > 0 ? file_named(text, loc.file) : std::string_view();
  if (loc.line > 0 && !file.empty() && fs::path(file).lexically_normal() == source.lexically_normal()) {
    error.message += fmt::format(" (line {} of its PTX)", error.place.line);
    error.place.line = loc.line;
  } else {
    error.place.file += "'s PTX";
  }
  error.place.column = 0;
  return error;
}

} // namespace assay::ptx
