#include "harness/base/time_limit.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace assay {

std::chrono::seconds time_limit(const char* variable, std::chrono::seconds usual) {
  const char* value = std::getenv(variable);
  if (value == nullptr) return usual;
  const std::string_view text = value;
  int seconds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = failure == std::errc() && end == text.data() + text.size();
  return whole && seconds > 0 ? std::chrono::seconds(seconds) : usual;
}

} // namespace assay
