#include "harness/run/contracts.h"

#include "harness/device/graph_replay.h"
#include "harness/run/execute.h"

#include <fmt/ranges.h>

#include <utility>

namespace assay {

namespace {

std::string cases_text(int cases) { return cases == 1 ? "1 case" : fmt::format("{} cases", cases); }

Contract seen_in_every_case(const std::string& name, int cases, const std::string& broken) {
  if (cases == 0) return {name, ContractState::not_tested, "no case ran"};
  if (!broken.empty()) return {name, ContractState::broken, broken};
  return {name, ContractState::held, cases_text(cases)};
}

} // namespace

void Contracts::take(const Judgement& judgement) {
  ++inputs_.cases;
  ++written_.cases;
  for (const Finding& finding : judgement.findings) {
    std::string* const broken = finding.signature.kind == Kind::input_modified ? &inputs_.broken
                                : finding.signature.kind == Kind::unwritten    ? &written_.broken
                                                                               : nullptr;
    if (broken != nullptr && broken->empty()) *broken = finding.message;
  }
}

Result<void> Contracts::replay(const Case& test_case, const Judgement& judgement) {
  auto* const device = dynamic_cast<GraphReplay*>(&kernel_.device());
  if (device == nullptr || !judgement.findings.empty() || !graphs_.broken.empty()) return {};
  const Plan& plan = judgement.trial.plan;
  ASSAY_TRY(const Prepared prepared,
            prepare(kernel_.device(), plan, judgement.trial.inputs, test_case.schedule_seed));
  if (prepared.launches.empty()) return {};
  ASSAY_TRY(const GraphReplay::Outcome outcome, device->replay_in_graph(*plan.program, prepared.launches));
  ++graphs_.cases;
  if (!outcome.steady || (outcome.other_bits && !kernel_.manifest().deterministic)) {
    ++unsteady_;
    return {};
  }
  if (outcome.broken.empty()) return {};
  std::vector<std::string> dims;
  for (const auto& [name, size] : test_case.dims) dims.push_back(fmt::format("{}={}", name, size));
  graphs_.broken = fmt::format("{} ({} {} {})", outcome.broken, name_of(test_case.pass),
                               name_of(test_case.dtype), fmt::join(dims, " "));
  return {};
}

Contract Contracts::graph() const {
  const std::string name = "replayable in a CUDA graph";
  if (dynamic_cast<GraphReplay*>(&kernel_.device()) == nullptr)
    return {name, ContractState::not_tested, "needs a GPU; this device has no graphs"};
  if (!graphs_.broken.empty()) return {name, ContractState::broken, graphs_.broken};
  if (graphs_.cases == 0)
    return {name, ContractState::not_tested, "no case without a finding launches anything"};
  std::string why = fmt::format("{}, each replayed twice", cases_text(graphs_.cases));
  if (unsteady_ > 0) why += fmt::format("; in {} the bits differ from run to run anyway", unsteady_);
  return {name, ContractState::held, why};
}

std::vector<Contract> Contracts::contracts() const {
  return {seen_in_every_case("inputs unmodified", inputs_.cases, inputs_.broken),
          seen_in_every_case("every output element written", written_.cases, written_.broken), graph()};
}

} // namespace assay
