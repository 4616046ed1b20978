#include "harness/report/json.h"

#include "harness/report/json_values.h"
#include "harness/report/quantities.h"

#include <cmath>
#include <limits>

namespace assay {

namespace {

using Json = OrderedJson;

double to_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nan("");
  const auto& text = value.get_ref<const std::string&>();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "inf" ? infinity : text == "-inf" ? -infinity : std::nan("");
}

// The fields that a campaign's list and a stored report have in common.
Json summary_of(const Finding& finding) {
  return {{"signature", to_string(finding.signature)},
          {"kind", std::string(name_of(finding.signature.kind))},
          {"pass", std::string(name_of(finding.signature.pass))},
          {"output", finding.signature.output},
          {"dtype", std::string(name_of(finding.test_case.dtype))},
          {"dims", json_dims(finding.test_case)},
          {"ratio", json_number(finding.ratio)},
          {"severity", json_number(finding.severity)}};
}

Json campaign_object(const CampaignReport& report) {
  Json findings = Json::array();
  for (const CampaignFinding& found : report.findings) {
    Json item = summary_of(found.finding);
    item["seconds_to_find"] = json_number(found.seconds_to_find);
    item["case"] = found.case_file.string();
    item["minimized_elements"] = found.minimized_elements;
    item["hits"] = found.hits;
    item["message"] = found.finding.message;
    findings.push_back(std::move(item));
  }
  Json all = {{"kernel", report.kernel},
              {"device", report.device},
              {"seconds", json_number(report.seconds)},
              {"cases", report.cases},
              {"cases_per_second",
               json_number(report.seconds > 0 ? static_cast<double>(report.cases) / report.seconds : 0)},
              {"suspects_not_confirmed", report.suspects_not_confirmed},
              {"inconclusive", report.inconclusive},
              {"not_tested", report.not_tested},
              {"findings", std::move(findings)}};
  if (report.screened + report.unjudged > 0) {
    all["screened"] = report.screened;
    all["unjudged"] = report.unjudged;
  }
  return all;
}

Json tensor_json(const TensorReport& report) {
  const Gate& gate = report.comparison.gate;
  return {{"tensor", report.name},
          {"pass", std::string(name_of(report.pass))},
          {"dtype", std::string(name_of(report.dtype))},
          {"shape", report.shape},
          {"exact", report.exact},
          {"reference_error", json_number(gate.reference_error)},
          {"rounding_floor", json_number(gate.rounding_floor)},
          {"absolute_floor", json_number(gate.absolute_floor)},
          {"target_error", json_number(told_error(report))},
          {"threshold", json_number(gate.threshold)},
          {"golden_scale", json_number(gate.golden_scale)},
          {"reference_relative_error", json_number(gate.reference_relative_error)},
          {"gate_valid", gate.valid()},
          {"ratio", json_number(told_ratio(report))},
          {"worst", report.worst},
          {"golden", json_number(report.golden)},
          {"reference", json_number(report.reference)},
          {"target", json_number(report.target)}};
}

Place parse_place(const Json& json) {
  const auto integer = [&](const char* name) {
    return json.contains(name) && json[name].is_number_integer() ? json[name].get<int>() : 0;
  };
  const bool named = json.contains("file") && json["file"].is_string();
  return {named ? json["file"].get<std::string>() : "", integer("line"), integer("column")};
}

Json place_json(const Place& place) {
  return {{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

} // namespace

std::string campaign_json(std::span<const CampaignReport> reports) {
  if (reports.size() == 1) return json_text(campaign_object(reports.front()));
  Json list = Json::array();
  for (const CampaignReport& report : reports) list.push_back(campaign_object(report));
  return json_text(list);
}

std::string replay_json(std::span<const ReplayOutcome> outcomes) {
  std::size_t passed = 0, errors = 0;
  Json cases = Json::array();
  for (const ReplayOutcome& outcome : outcomes) {
    errors += outcome.status == ReplayStatus::error;
    passed += outcome.status == ReplayStatus::passed;
    cases.push_back({{"case", outcome.file.string()},
                     {"status", std::string(name_of(outcome.status))},
                     {"why", outcome.why},
                     {"notes", outcome.notes}});
  }
  return json_text({{"passed", passed},
                    {"failed", outcomes.size() - passed},
                    {"skipped", 0},
                    {"errors", errors}, // of the failed
                    {"cases", std::move(cases)}});
}

std::string finding_json(const Finding& finding) {
  Json json = summary_of(finding);
  json["message"] = finding.message;
  json["place"] = place_json(finding.signature.place);
  json["kernel"] = finding.signature.kernel;
  json["threshold"] = json_number(finding.threshold);
  json["rigorous_bound"] = json_number(finding.rigorous_bound);
  json["confirmation"] = finding.confirmation;
  json["element"] = finding.element;
  if (finding.tensor) json["tensor"] = tensor_json(*finding.tensor);
  Json faults = Json::array();
  for (const Fault& fault : finding.faults)
    faults.push_back({{"kind", std::string(name_of(fault.kind))},
                      {"buffer", fault.buffer},
                      {"place", place_json(fault.place)},
                      {"message", fault.message},
                      {"note", fault.note}});
  json["faults"] = std::move(faults);
  json["case"] = to_text(finding.test_case);
  return json_text(json);
}

Result<Finding> parse_finding(const std::string& text, const std::filesystem::path& file) {
  const Place place{file.string()};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return user_error(place, "is not the report of a finding: no JSON object");
  const auto field = [&](const char* name) -> Result<std::string> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string())
      return user_error(place, "is not the report of a finding: it has no text \"{}\"", name);
    return found->get<std::string>();
  };
  Finding finding;
  ASSAY_TRY(finding.signature.kernel, field("kernel"));
  ASSAY_TRY(finding.signature.output, field("output"));
  ASSAY_TRY(const std::string kind, field("kind"));
  ASSAY_TRY(const std::string pass, field("pass"));
  ASSAY_TRY(finding.message, field("message"));
  ASSAY_TRY(finding.confirmation, field("confirmation"));
  ASSAY_TRY(const std::string case_text, field("case"));
  const auto known_kind = parse_kind(kind);
  const auto known_pass = parse_pass(pass);
  if (!known_kind || !known_pass)
    return user_error(place, "names the unknown kind or pass \"{}\", \"{}\"", kind, pass);
  finding.signature.kind = *known_kind;
  finding.signature.pass = *known_pass;
  if (const auto where = json.find("place"); where != json.end() && where->is_object())
    finding.signature.place = parse_place(*where);
  ASSAY_TRY(finding.test_case, parse_case(case_text, file.string()));
  const auto value = [&](const char* name) {
    return json.contains(name) ? to_number(json[name]) : std::nan("");
  };
  finding.ratio = value("ratio");
  finding.severity = value("severity");
  finding.threshold = value("threshold");
  finding.rigorous_bound = value("rigorous_bound");
  return finding;
}

} // namespace assay
