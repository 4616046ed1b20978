#include "tools/whole_number.h"

#include <fmt/format.h>

#include <charconv>

namespace assay {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, value);
        if (parsed.ec == std::errc() && parsed.ptr == end && value >= least && value <= most)
          return std::string();
        return fmt::format("'{}' is not a whole number from {} to {}", text, least,
                           most == ~std::uint64_t{0} ? "2^64 - 1" : std::to_string(most));
      },
      "");
}

} // namespace assay
