#include "tools/whole_number.h"

#include <fmt/format.h>

#include <charconv>

namespace assay {

CLI::Validator whole_number(std::uint64_t least) {
  return CLI::Validator(
      [least](const std::string& text) {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, value);
        if (parsed.ec == std::errc() && parsed.ptr == end && value >= least) return std::string();
        return fmt::format("{} is not a whole number from {} to 2^64 - 1", text, least);
      },
      "");
}

} // namespace assay
