#include "harness/report/json_values.h"
#include "harness/report/quantities.h"
#include "harness/report/verify.h"

namespace assay {

namespace {

using Json = OrderedJson;

Json growth_json(const Growth& growth) {
  if (!growth.valid) return nullptr;
  return {{"slope", json_number(growth.slope)},
          {"half_width_99", json_number(growth.half_width)},
          {"points", growth.points},
          {"lengths", growth.lengths}};
}

Json row_json(const VerifyRow& row) {
  const Gate& gate = row.worst.comparison.gate;
  return {{"pass", std::string(name_of(row.pass))},
          {"tensor", row.name},
          {"dtype", std::string(name_of(row.dtype))},
          {"dims", json_dims(row.worst_case)},
          {"reference_error", json_number(gate.reference_error)},
          {"condition", json_number(row.condition)},
          {"target_error", row.worst.exact ? Json(row.worst.mismatches) : json_number(told_error(row.worst))},
          {"threshold", json_number(gate.threshold)},
          {"rms_ratio", json_number(row.statistics.rms.ratio)},
          {"bias_ulp", json_number(row.statistics.target_bias.mean)},
          {"gate_valid", row.gates_valid == row.cases},
          {"verdict", std::string(name_of(row.verdict))},
          {"why", row.why},
          {"exact", row.worst.exact},
          {"ratio", json_number(told_ratio(row.worst))},
          {"cases", row.cases},
          {"gates_valid", row.gates_valid},
          {"failed", row.failed},
          {"lucky", row.lucky},
          {"elements_judged", row.judged},
          {"formula_overflows", row.overflows},
          {"worst_case", to_text(row.worst_case)}};
}

Json invalid_json(const VerifyReport& report, const InvalidGate& gate) {
  const Analysis& analysis = gate.analysis;
  Json lengths = Json::array();
  for (const LengthRow& row : analysis.lengths)
    lengths.push_back({{"length", row.length},
                       {"condition", json_number(row.condition)},
                       {"target_rms", json_number(row.target_rms)},
                       {"legal_rms", json_number(row.legal_rms)},
                       {"target_mean", json_number(row.target_mean)},
                       {"legal_mean", json_number(row.legal_mean)}});
  return {{"tensor", report.rows[gate.row].name},
          {"dtype", std::string(name_of(report.rows[gate.row].dtype))},
          {"cases", gate.cases},
          {"verdict", std::string(name_of(analysis.verdict))},
          {"why", analysis.why},
          {"ratio", json_number(gate.ratio)},
          {"condition", json_number(analysis.condition)},
          {"spread", json_number(analysis.spread)},
          {"legal_evaluations", analysis.legal},
          {"cases_compared", analysis.cases},
          {"reduction", analysis.dim},
          {"lengths", std::move(lengths)},
          {"target_growth", growth_json(analysis.target)},
          {"steepest_growth", growth_json(analysis.steepest)},
          {"steepest", analysis.steepest_name},
          {"bias_growth", growth_json(analysis.target_bias)},
          {"case", to_text(gate.test_case)}};
}

// held: null where it was not tested.
Json contracts_json(const VerifyReport& report) {
  Json contracts = Json::array();
  for (const Contract& contract : report.contracts) {
    const bool tested = contract.state != ContractState::not_tested;
    contracts.push_back({{"name", contract.name},
                         {"held", tested ? Json(contract.state == ContractState::held) : Json(nullptr)},
                         {"why", contract.why}});
  }
  return contracts;
}

Json tested_json(const VerifyReport& report) {
  Json sizes = Json::object(), dtypes = Json::array(), passes = Json::array();
  for (const auto& [name, values] : report.sizes) sizes[name] = values;
  for (const DType dtype : report.dtypes) dtypes.push_back(std::string(name_of(dtype)));
  for (const Pass pass : report.passes) passes.push_back(std::string(name_of(pass)));
  return {{"cases", report.cases},
          {"dims", std::move(sizes)},
          {"dtypes", std::move(dtypes)},
          {"passes", std::move(passes)},
          {"distributions", report.distributions},
          {"params", report.params},
          {"repeated", report.repeated},
          {"strided", report.strided}};
}

Json report_json(const VerifyReport& report) {
  Json tensors = Json::array(), invalid = Json::array(), findings = Json::array(), lucky = Json::array();
  for (const VerifyRow& row : report.rows) tensors.push_back(row_json(row));
  for (const InvalidGate& gate : report.invalid_gates) invalid.push_back(invalid_json(report, gate));
  for (const VerifyFinding& found : report.findings)
    findings.push_back({{"signature", to_string(found.finding.signature)},
                        {"kind", std::string(name_of(found.finding.signature.kind))},
                        {"pass", std::string(name_of(found.finding.signature.pass))},
                        {"output", found.finding.signature.output},
                        {"dtype", std::string(name_of(found.finding.test_case.dtype))},
                        {"dims", json_dims(found.finding.test_case)},
                        {"cases", found.cases},
                        {"severity", json_number(found.finding.severity)},
                        {"message", found.finding.message},
                        {"confirmation", found.finding.confirmation},
                        {"case", to_text(found.finding.test_case)}});
  for (const VerifyLucky& one : report.lucky)
    lucky.push_back({{"signature", to_string(one.reference.violation.signature)},
                     {"dtype", std::string(name_of(one.test_case.dtype))},
                     {"cases", one.cases},
                     {"ratio", json_number(one.reference.violation.ratio)},
                     {"severity", json_number(one.reference.severity)},
                     {"why", one.reference.why},
                     {"case", to_text(one.test_case)}});
  return {{"kernel", report.kernel},
          {"device", report.device},
          {"verdict", std::string(name_of(report.verdict))},
          {"seconds", json_number(report.seconds)},
          {"tensors", std::move(tensors)},
          {"invalid_gates", std::move(invalid)},
          {"findings", std::move(findings)},
          {"lucky_reference", std::move(lucky)},
          {"contracts", contracts_json(report)},
          {"tested", tested_json(report)},
          {"not_covered", report.not_covered}};
}

} // namespace

std::string verify_json(std::span<const VerifyReport> reports) {
  if (reports.size() == 1) return json_text(report_json(reports.front()));
  Json list = Json::array();
  for (const VerifyReport& report : reports) list.push_back(report_json(report));
  return json_text(list);
}

} // namespace assay
