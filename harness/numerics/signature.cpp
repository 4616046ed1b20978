#include "harness/numerics/signature.h"

#include "harness/base/hash.h"

#include <array>

namespace assay {

namespace {

constexpr std::array<std::string_view, 2> pass_names{"forward", "backward"};
constexpr std::array<std::string_view, 16> kind_names{
    "launch", "trap",          "out_of_bounds",  "misaligned",      "barrier",   "timeout",
    "race",   "uninitialized", "input_modified", "unwritten",       "structure", "mismatch",
    "gate",   "ulp",           "bias",           "nondeterministic"};

// Letters, digits, '.' and '_' stand for themselves; every other byte, and the '_' of what would read like
// one, is _xHH. So no part holds the '-' between parts, and distinct parts stay distinct.
std::string escaped(std::string_view part) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_';
  };
  std::string text;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool reads_like_escape = part[i] == '_' && i + 3 < part.size() && part[i + 1] == 'x' &&
                                   is_hex(part[i + 2]) && is_hex(part[i + 3]);
    if (is_plain(part[i]) && !reads_like_escape)
      text += part[i];
    else
      text += fmt::format("_x{:02x}", static_cast<unsigned char>(part[i]));
  }
  return text;
}

} // namespace

std::string_view name_of(Pass pass) { return pass_names[static_cast<std::size_t>(pass)]; }
std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<Pass> parse_pass(std::string_view name) {
  for (std::size_t i = 0; i < pass_names.size(); ++i)
    if (pass_names[i] == name) return static_cast<Pass>(i);
  return std::nullopt;
}

std::optional<Kind> parse_kind(std::string_view name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind_names[i] == name) return static_cast<Kind>(i);
  return std::nullopt;
}

bool is_structural(Kind kind) { return kind != Kind::gate && kind != Kind::ulp && kind != Kind::bias; }

std::string to_string(const Signature& signature) {
  std::string text = fmt::format("{}-{}-{}-{}", escaped(signature.kernel), name_of(signature.pass),
                                 escaped(signature.output), name_of(signature.kind));
  if (const Place& place = signature.place; place != Place{}) {
    text += fmt::format("-{}-{}", escaped(place.file), place.line);
    if (place.column != 0) text += fmt::format("-{}", place.column);
  }
  // A file name has at most 255 bytes; a hash of the whole keeps long ones apart.
  constexpr std::size_t longest = 200;
  if (text.size() > longest) text = text.substr(0, longest - 17) + "-" + content_hash(text).substr(0, 16);
  return text;
}

} // namespace assay
