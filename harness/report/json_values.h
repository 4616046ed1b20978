// Pieces that every JSON of ours is made of. Numbers that are not finite are strings.
#pragma once

#include "harness/cases/case.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

namespace assay {

using OrderedJson = nlohmann::ordered_json;

inline OrderedJson json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return value;
}

// Indented by two, with a final newline.
inline std::string json_text(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

inline OrderedJson json_dims(const Case& test_case) {
  OrderedJson dims = OrderedJson::object();
  for (const auto& [name, size] : test_case.dims) dims[name] = size;
  return dims;
}

} // namespace assay
