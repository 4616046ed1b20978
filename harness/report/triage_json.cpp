#include "harness/report/json_values.h"
#include "harness/report/triage.h"
#include "harness/report/triage_values.h"

namespace assay {

namespace {

using Json = OrderedJson;

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
               {"tensors", tensors_json(group.tensors)},
               {"commands", group.commands},
               {"histogram", histogram_json(group.histogram)},
               {"samples", samples_json(group.samples)}};
  if (group.map) json["map"] = map_json(*group.map);
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
