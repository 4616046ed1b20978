#include "harness/report/triage_values.h"

#include <limits>
#include <stdexcept>

namespace assay {

namespace {

using Json = OrderedJson;

Json tensor_object(const TriageTensor& row) {
  return {{"pass", std::string(name_of(row.pass))},
          {"tensor", row.name},
          {"dtype", row.dtype},
          {"shape", row.shape},
          {"exact", row.exact},
          {"reference_error", json_number(row.reference_error)},
          {"condition", json_number(row.condition)},
          {"target_error", json_number(row.target_error)},
          {"threshold", json_number(row.threshold)},
          {"ratio", json_number(row.ratio)},
          {"gate_valid", row.gate_valid},
          {"verdict", row.verdict},
          {"worst", row.worst}};
}

Json sample_object(const ErrorSamplePoint& point) {
  Json dims = Json::object();
  for (const auto& [name, size] : point.dims) dims[name] = size;
  return {{"dims", std::move(dims)},
          {"distribution", point.distribution},
          {"ratio", json_number(point.ratio)},
          {"reference_ratio", json_number(point.reference_ratio)},
          {"failed", point.failed}};
}

template <class T, class F> Json list_of(std::span<const T> items, F object) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(object(item));
  return list;
}

template <class T, class F> std::vector<T> parse_list(const Json& json, F parse) {
  std::vector<T> items;
  for (const Json& item : json) items.push_back(parse(item));
  return items;
}

// The value whose name it is, among the first `count` of an enumeration.
template <class T> T parse_name(const Json& json, int count) {
  for (int k = 0; k < count; ++k)
    if (name_of(static_cast<T>(k)) == json.get_ref<const std::string&>()) return static_cast<T>(k);
  throw std::invalid_argument("an unknown name");
}

std::vector<double> parse_numbers(const Json& json) { return parse_list<double>(json, parse_number); }

} // namespace

Json causes_json(std::span<const CauseEvidence> causes) {
  Json list = Json::array();
  for (const CauseEvidence& one : causes)
    list.push_back({{"name", std::string(name_of(one.cause))},
                    {"evidence", one.evidence},
                    {"score", json_number(one.score)}});
  return list;
}

Json tensors_json(std::span<const TriageTensor> tensors) { return list_of(tensors, tensor_object); }

Json map_json(const ErrorMap& map) {
  Json levels = Json::array();
  for (const double level : map.level) levels.push_back(json_number(level));
  return {{"tensor", map.tensor},      {"shape", map.shape},           {"rows", map.rows},
          {"columns", map.columns},    {"cells_down", map.cells_down}, {"cells_across", map.cells_across},
          {"level", std::move(levels)}};
}

Json histogram_json(const ErrorHistogram& histogram) {
  return {{"first", histogram.first},
          {"target", histogram.target},
          {"reference", histogram.reference},
          {"target_exact", histogram.target_exact},
          {"reference_exact", histogram.reference_exact},
          {"target_not_finite", histogram.target_not_finite},
          {"reference_not_finite", histogram.reference_not_finite}};
}

Json samples_json(std::span<const ErrorSamplePoint> samples) { return list_of(samples, sample_object); }

double parse_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto& text = json.get_ref<const std::string&>();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "inf" ? infinity : text == "-inf" ? -infinity : std::numeric_limits<double>::quiet_NaN();
}

std::vector<CauseEvidence> parse_causes(const Json& json) {
  return parse_list<CauseEvidence>(json, [](const Json& one) {
    return CauseEvidence{parse_name<Cause>(one.at("name"), cause_count), parse_number(one.at("score")),
                         one.at("evidence").get<std::string>()};
  });
}

std::vector<TriageTensor> parse_tensors(const Json& json) {
  return parse_list<TriageTensor>(json, [](const Json& one) {
    TriageTensor row;
    row.pass = parse_name<Pass>(one.at("pass"), 2);
    one.at("tensor").get_to(row.name);
    one.at("dtype").get_to(row.dtype);
    one.at("shape").get_to(row.shape);
    one.at("exact").get_to(row.exact);
    row.reference_error = parse_number(one.at("reference_error"));
    row.condition = parse_number(one.at("condition"));
    row.target_error = parse_number(one.at("target_error"));
    row.threshold = parse_number(one.at("threshold"));
    row.ratio = parse_number(one.at("ratio"));
    one.at("gate_valid").get_to(row.gate_valid);
    one.at("verdict").get_to(row.verdict);
    one.at("worst").get_to(row.worst);
    return row;
  });
}

ErrorMap parse_map(const Json& json) {
  ErrorMap map;
  json.at("tensor").get_to(map.tensor);
  json.at("shape").get_to(map.shape);
  json.at("rows").get_to(map.rows);
  json.at("columns").get_to(map.columns);
  json.at("cells_down").get_to(map.cells_down);
  json.at("cells_across").get_to(map.cells_across);
  map.level = parse_numbers(json.at("level"));
  return map;
}

ErrorHistogram parse_histogram(const Json& json) {
  ErrorHistogram histogram;
  json.at("first").get_to(histogram.first);
  json.at("target").get_to(histogram.target);
  json.at("reference").get_to(histogram.reference);
  json.at("target_exact").get_to(histogram.target_exact);
  json.at("reference_exact").get_to(histogram.reference_exact);
  json.at("target_not_finite").get_to(histogram.target_not_finite);
  json.at("reference_not_finite").get_to(histogram.reference_not_finite);
  return histogram;
}

std::vector<ErrorSamplePoint> parse_samples(const Json& json) {
  return parse_list<ErrorSamplePoint>(json, [](const Json& one) {
    ErrorSamplePoint point;
    for (const auto& [name, size] : one.at("dims").items())
      point.dims.emplace_back(name, size.template get<std::int64_t>());
    one.at("distribution").get_to(point.distribution);
    point.ratio = parse_number(one.at("ratio"));
    point.reference_ratio = parse_number(one.at("reference_ratio"));
    one.at("failed").get_to(point.failed);
    return point;
  });
}

} // namespace assay
