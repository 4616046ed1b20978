#include "harness/report/json_values.h"
#include "harness/report/triage.h"

namespace assay {

namespace {

using Json = OrderedJson;

Json causes_json(const std::vector<CauseEvidence>& causes) {
  Json list = Json::array();
  for (const CauseEvidence& one : causes)
    list.push_back({{"name", std::string(name_of(one.cause))},
                    {"evidence", one.evidence},
                    {"score", json_number(one.score)}});
  return list;
}

Json finding_object(const TriageFinding& finding) {
  return {{"signature", finding.signature},
          {"kind", std::string(name_of(finding.kind))},
          {"message", finding.message},
          {"case", finding.case_file.string()},
          {"severity", json_number(finding.severity)},
          {"hits", finding.hits},
          {"first_seen", finding.first_seen},
          {"last_seen", finding.last_seen},
          {"open", finding.open}};
}

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

Json map_object(const ErrorMap& map) {
  Json levels = Json::array();
  for (const double level : map.level) levels.push_back(json_number(level));
  return {{"tensor", map.tensor},      {"shape", map.shape},           {"rows", map.rows},
          {"columns", map.columns},    {"cells_down", map.cells_down}, {"cells_across", map.cells_across},
          {"level", std::move(levels)}};
}

Json histogram_object(const ErrorHistogram& histogram) {
  return {{"first", histogram.first},
          {"target", histogram.target},
          {"reference", histogram.reference},
          {"target_exact", histogram.target_exact},
          {"reference_exact", histogram.reference_exact},
          {"target_not_finite", histogram.target_not_finite},
          {"reference_not_finite", histogram.reference_not_finite}};
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

template <class T, class F> Json list_of(const std::vector<T>& items, F object) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(object(item));
  return list;
}

Json group_object(const TriageGroup& group) {
  Json json = {{"signature", group.signature},
               {"count", group.count},
               {"open", group.open},
               {"kernel", group.kernel},
               {"op", group.op},
               {"suspects", causes_json(group.suspects)},
               {"cleared", causes_json(group.cleared)},
               {"note", group.note},
               {"case", group.case_file},
               {"case_text", to_text(group.test_case)},
               {"minimized_elements", group.minimized_elements},
               {"first_seen", group.first_seen},
               {"last_seen", group.last_seen},
               {"findings", list_of(group.findings, finding_object)},
               {"tensors", list_of(group.tensors, tensor_object)},
               {"commands", group.commands},
               {"histogram", histogram_object(group.histogram)},
               {"samples", list_of(group.samples, sample_object)}};
  if (group.map) json["map"] = map_object(*group.map);
  return json;
}

} // namespace

std::string triage_json(const TriageReport& report) {
  return json_text({{"folder", report.folder},
                    {"device", report.device},
                    {"groups", list_of(report.groups, group_object)},
                    {"unread", report.unread}});
}

} // namespace assay
