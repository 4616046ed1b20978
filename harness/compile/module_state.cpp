#include "harness/compile/module_state.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace assay {

namespace {

using Names = std::set<std::string_view>;

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_name_char(text[at])) continue;
    std::size_t end = at;
    while (end < text.size() && is_name_char(text[end])) ++end;
    names.push_back(text.substr(at, end - at));
    at = end;
  }
  return names;
}

bool mentions(std::string_view text, const Names& names) {
  return std::ranges::any_of(names_in(text), [&](std::string_view name) { return names.contains(name); });
}

// Without what may hold anything or ends without a semicolon: comments, quoted text, lines of debugging.
std::string stripped(std::string_view ptx) {
  std::string text;
  bool blank = true; // since the line's begin
  const auto behind = [&](std::string_view what, std::size_t from) {
    const std::size_t found = ptx.find(what, from);
    return found == std::string_view::npos ? ptx.size() : found + what.size();
  };
  for (std::size_t at = 0; at < ptx.size();) {
    const std::string_view rest = ptx.substr(at);
    if (rest.starts_with("//") ||
        (blank && (rest.starts_with(".loc") || rest.starts_with(".file")) && !rest.starts_with(".local"))) {
      at = behind("\n", at);
      text += '\n';
      blank = true;
    } else if (rest.starts_with("/*")) {
      at = behind("*/", at + 2);
      text += ' ';
    } else if (rest.starts_with('"')) {
      at = behind("\"", at + 1);
    } else {
      blank = rest[0] == '\n' || (blank && (rest[0] == ' ' || rest[0] == '\t'));
      text += ptx[at++];
    }
  }
  return text;
}

// Behind the brace that closes the one at `open`.
std::size_t end_of_block(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

struct Parts {
  std::vector<std::string_view> declarations; // of the module, with their initialisers
  std::vector<std::string_view> bodies;       // of functions
};

Parts parts_of(std::string_view text) {
  Parts parts;
  for (std::size_t begin = 0, at = 0; at < text.size();) {
    const std::string_view so_far = text.substr(begin, at - begin);
    if (text[at] == ';') {
      parts.declarations.push_back(so_far);
      begin = ++at;
    } else if (text[at] == '{') {
      const std::size_t end = end_of_block(text, at);
      const bool section = so_far.find(".section") != std::string_view::npos;
      const bool body =
          so_far.find(".entry") != std::string_view::npos || so_far.find(".func") != std::string_view::npos;
      if (body) parts.bodies.push_back(text.substr(at + 1, end - at - 1));
      at = end;
      if (body || section) begin = at;
    } else {
      ++at;
    }
  }
  return parts;
}

bool is_string(std::string_view name) { return name.starts_with("$str") || name.starts_with("__unnamed_"); }

// ".visible .global .align 4 .b8 table[24] = {...}": table.
std::string_view variable_of(std::string_view declaration) {
  if (declaration.find(".global") == std::string_view::npos) return {};
  const std::string_view before = declaration.substr(0, declaration.find_first_of("=["));
  const auto names = names_in(before);
  return names.empty() || is_string(names.back()) ? std::string_view() : names.back();
}

struct Instruction {
  std::string_view opcode, first, others; // operands
};

Instruction instruction_of(std::string_view text) {
  const auto skip = [&](std::size_t count) { text.remove_prefix(std::min(count, text.size())); };
  for (;;) { // blanks, braces of a scope, labels, a predicate
    skip(std::min(text.find_first_not_of(" \t\r\n{}"), text.size()));
    const std::size_t blank = text.find_first_of(" \t\r\n");
    const std::size_t label = text.find(':');
    if (label != std::string_view::npos && label < blank)
      skip(label + 1);
    else if (text.starts_with('@'))
      skip(blank);
    else
      break;
  }
  Instruction made;
  made.opcode = text.substr(0, text.find_first_of(" \t\r\n"));
  skip(made.opcode.size());
  int depth = 0;
  std::size_t comma = 0;
  for (; comma < text.size() && (text[comma] != ',' || depth > 0); ++comma)
    depth += text[comma] == '{' ? 1 : text[comma] == '}' ? -1 : 0;
  made.first = text.substr(0, comma);
  made.others = text.substr(std::min(comma, text.size()));
  return made;
}

// What a computation with an address makes is an address again; loads take what lies there.
bool computes(std::string_view operation) {
  constexpr std::array<std::string_view, 21> all = {"mov",  "add", "sub", "mul",  "mad",  "shl",  "shr",
                                                    "and",  "or",  "xor", "not",  "selp", "cvta", "cvt",
                                                    "setp", "set", "bfe", "prmt", "min",  "max",  "lop3"};
  return std::ranges::find(all, operation) != all.end();
}
bool loads(std::string_view operation) {
  return operation == "ld" || operation == "ldu" || operation == "prefetch" || operation == "prefetchu";
}

bool lets_write(std::string_view body, const Names& variables) {
  Names addresses = variables; // and the registers that may hold one
  for (std::size_t known = 0; known != addresses.size();) {
    known = addresses.size();
    for (std::size_t begin = 0; begin < body.size();) {
      const std::size_t end = std::min(body.find(';', begin), body.size());
      const Instruction made = instruction_of(body.substr(begin, end - begin));
      begin = end + 1;
      const std::string_view operation = made.opcode.substr(0, made.opcode.find('.'));
      if (operation.empty() || loads(operation)) continue; // a directive, or a look
      if (!computes(operation)) {
        if (mentions(made.first, addresses) || mentions(made.others, addresses)) return true;
      } else if (mentions(made.others, addresses)) {
        for (const std::string_view name : names_in(made.first)) addresses.insert(name);
      }
    }
  }
  return false;
}

} // namespace

bool keeps_state(std::string_view ptx) {
  if (ptx.find(".global") == std::string_view::npos) return false;
  const std::string text = stripped(ptx);
  const Parts parts = parts_of(text);
  Names variables;
  for (const std::string_view declaration : parts.declarations)
    if (const std::string_view name = variable_of(declaration); !name.empty()) variables.insert(name);
  if (variables.empty()) return false;
  const bool pointed_to = std::ranges::any_of(parts.declarations, [&](std::string_view declaration) {
    const std::size_t equals = declaration.find('=');
    return equals != std::string_view::npos && mentions(declaration.substr(equals), variables);
  });
  return pointed_to || std::ranges::any_of(
                           parts.bodies, [&](std::string_view body) { return lets_write(body, variables); });
}

} // namespace assay
