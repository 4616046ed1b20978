#include "harness/compile/ptx_entries.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace assay {
namespace {

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::size_t past_comment(std::string_view ptx, std::size_t i) {
  const bool block = ptx[i + 1] == '*';
  const std::size_t end = ptx.find(block ? "*/" : "\n", i + 2);
  return end == std::string_view::npos ? ptx.size() : end + (block ? 2 : 1);
}

std::string demangled(const std::string& entry) {
  if (!entry.starts_with("_Z")) return entry; // "z" alone would be read as a type
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : entry;
}

// Where the parameter list opens that closes at the end of the text; the whole length where there is none.
std::size_t parameter_list(std::string_view text) {
  if (!text.ends_with(')')) return text.size();
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')')
      ++depth;
    else if (text[i] == '(' && --depth == 0)
      return i;
  }
  return text.size();
}

// Spaces only where they part two words: "k<float, 4>" and "k<float,4>" are one name.
std::string canonical(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      result += text[i];
      continue;
    }
    const std::size_t next = text.find_first_not_of(' ', i);
    if (!result.empty() && next != std::string_view::npos && is_identifier(result.back()) &&
        is_identifier(text[next]))
      result += ' ';
    i = next == std::string_view::npos ? text.size() : next - 1;
  }
  return result;
}

} // namespace

std::vector<std::string> ptx_entries(std::string_view ptx) {
  std::vector<std::string> entries;
  constexpr std::string_view directive = ".entry";
  for (std::size_t i = 0; i < ptx.size();) {
    const std::string_view rest = ptx.substr(i);
    if (rest.starts_with("//") || rest.starts_with("/*")) {
      i = past_comment(ptx, i);
    } else if (rest.starts_with('"')) {
      i = std::min(ptx.find('"', i + 1), ptx.size() - 1) + 1;
    } else if (rest.starts_with(directive) && rest.size() > directive.size() &&
               !is_identifier(rest[directive.size()])) {
      const std::size_t start = std::min(ptx.find_first_not_of(" \t\r\n", i + directive.size()), ptx.size());
      std::size_t end = start;
      while (end < ptx.size() && (is_identifier(ptx[end]) || ptx[end] == '%')) ++end;
      if (end > start) entries.emplace_back(ptx.substr(start, end - start));
      i = std::max(end, i + directive.size());
    } else {
      ++i;
    }
  }
  return entries;
}

std::string entry_display_name(const std::string& entry) {
  std::string name = demangled(entry);
  if (name == entry) return name;
  name.resize(parameter_list(name));
  if (name.starts_with("void ")) name.erase(0, 5); // kernels return nothing; only templates say so
  return name;
}

Result<std::string> find_entry(const std::vector<std::string>& entries, const std::string& name,
                               const std::string& file) {
  if (entries.empty()) return user_error(Place{file}, "no .entry in this PTX");
  if (std::ranges::find(entries, name) != entries.end()) return name;
  std::vector<std::string> matches, display;
  for (const std::string& entry : entries) {
    display.push_back(entry_display_name(entry));
    if (canonical(display.back()) == canonical(name)) matches.push_back(entry);
  }
  if (matches.size() == 1) return matches.front();
  if (!matches.empty())
    return user_error(Place{file}, "'{}' names {} entries; write one of them: {}", name, matches.size(),
                      fmt::join(matches, ", "));
  constexpr std::size_t shown = 8;
  if (display.size() > shown) {
    display.resize(shown);
    display.emplace_back("...");
  }
  return user_error(Place{file}, "no entry '{}' in this PTX; it has {}", name, fmt::join(display, ", "));
}

} // namespace assay
