#include "tools/duration.h"

#include <charconv>
#include <cmath>

namespace assay {

Result<double> parse_duration(std::string_view text) {
  constexpr double year = 365.0 * 24 * 3600;
  double value = 0;
  const auto [end, failure] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  const double seconds = value * scale;
  if (failure != std::errc() || !(seconds > 0) || seconds > year)
    return user_error(
        {}, "--time is a number of seconds, or one with s, m or h behind it, as 90, 30m or 8h; not '{}'",
        text);
  return seconds;
}

} // namespace assay
