#include "harness/run/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

} // namespace assay
