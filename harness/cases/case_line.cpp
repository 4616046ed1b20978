#include "harness/cases/case_line.h"

#include <algorithm>

namespace assay::case_line {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view head = trimmed(text.substr(0, at));
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return head;
}

std::string shown(std::string_view text) {
  std::string result(text.substr(0, 60));
  std::ranges::replace_if(result, [](char c) { return c < ' ' || c == 0x7f; }, '?');
  return text.size() > 60 ? result + "..." : result;
}

Result<std::string> read_text(std::string_view value, const Place& place) {
  if (!value.starts_with('"')) {
    if (value.empty()) return user_error(place, "a value is missing after \"=\"");
    return std::string(value);
  }
  std::string result;
  std::size_t at = 1;
  for (; at < value.size() && value[at] != '"'; ++at) {
    if (value[at] != '\\') {
      result += value[at];
      continue;
    }
    const std::string_view rest = value.substr(at + 1);
    unsigned char byte = 0;
    if (rest.starts_with('"') || rest.starts_with('\\')) {
      result += rest.front();
      at += 1;
    } else if (rest.size() >= 3 && rest[0] == 'x' &&
               std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16).ptr == rest.data() + 3) {
      result += static_cast<char>(byte);
      at += 3;
    } else {
      return user_error(place, "a backslash in quotes must be \\\", \\\\ or \\xHH");
    }
  }
  if (at + 1 != value.size()) return user_error(place, "the quoted text must end at the end of the line");
  return result;
}

} // namespace assay::case_line
