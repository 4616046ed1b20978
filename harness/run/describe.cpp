#include "harness/run/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay {

std::string element_text(const std::string& tensor, std::span<const std::int64_t> shape, std::int64_t index) {
  if (index < 0) return tensor;
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 0) {
      at[i] = index % shape[i];
      index /= shape[i];
    }
  }
  return fmt::format("{}[{}]", tensor, fmt::join(at, ","));
}

std::string value_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.7g}", value); // a NaN's sign says nothing
}

std::string printable(std::string text) {
  std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }, '?');
  return text;
}

} // namespace assay
