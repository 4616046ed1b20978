#include "harness/compile/fields.h"

#include <fmt/format.h>

#include <charconv>

namespace assay {

// "<length>\n<bytes>\n"
void put_field(std::string& body, std::string_view field) {
  body += fmt::format("{}\n{}\n", field.size(), field);
}

std::optional<std::string> take_field(std::string_view& body) {
  std::size_t length = 0;
  const auto number = std::from_chars(body.data(), body.data() + body.size(), length);
  const auto digits = static_cast<std::size_t>(number.ptr - body.data());
  if (number.ec != std::errc() || body.size() < digits + 2 || length > body.size() - digits - 2)
    return std::nullopt;
  std::string field(body.substr(digits + 1, length));
  body.remove_prefix(digits + 1 + length + 1);
  return field;
}

} // namespace assay
