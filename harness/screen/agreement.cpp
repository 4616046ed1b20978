#include "harness/screen/agreement.h"

#include "harness/run/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

namespace {

constexpr double record_rounding =
    0x1p-19;                              // of errors of which 20 bits are kept (device/errors.h), twice over
constexpr double record_floor = 0x1p-125; // what they cannot tell from 0

bool must_be_seen(const Violation& violation, const JudgeFacts& facts, const Trial& trial) {
  switch (violation.signature.kind) {
  case Kind::structure:
  case Kind::mismatch:
  case Kind::input_modified:
    return true;
  case Kind::unwritten: // single bytes hold any pattern
    return violation.report < trial.tensors.size() && size_of(trial.tensors[violation.report].dtype) > 1;
  case Kind::gate:
  case Kind::ulp:
  case Kind::bias:
    return facts.same_reference;
  default:
    return false;
  }
}

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values)
    if (std::isfinite(value)) result = std::max(result, std::fabs(value));
  return result;
}

} // namespace

std::optional<std::string> contradiction(const Kernel& kernel, const ScreenedCase& screened,
                                         const JudgeFacts& facts, const Trial& trial) {
  if (!screened.clean()) return std::nullopt;
  const bool repeatable = kernel.manifest().deterministic && !kernel.has_atomics();
  for (const Violation& violation : trial.violations)
    if (repeatable && must_be_seen(violation, facts, trial))
      return fmt::format("the screen calls clean what the host suspects: {}: {}",
                         to_string(violation.signature), violation.message);
  for (std::size_t i = 0; i < trial.tensors.size() && i < screen::max_outputs; ++i) {
    const TensorReport& report = trial.tensors[i];
    const Gate& gate = report.comparison.gate;
    if (report.exact || !gate.valid() || !report.comparison.structure.passed() || gate.worst_element < 0)
      continue;
    const screen::OutputRecord& record = screened.record.outputs[i];
    const double bounds =
        2 * (facts.golden_unit * largest(trial.golden[i].magnitude) + gate.golden_bound) + record_floor;
    const auto differ = [&](double theirs, double ours) {
      return std::isfinite(theirs) && std::isfinite(ours) && ours <= std::numeric_limits<float>::max() &&
             std::fabs(theirs - ours) > bounds + record_rounding * std::max(theirs, ours);
    };
    const auto tell = [&](const char* whose, double theirs, double ours) {
      return fmt::format(
          "the screen and the host measure different errors of {}'s {}: {} and {}, with bounds "
          "of {} on their goldens",
          report.name, whose, value_text(theirs), value_text(ours), value_text(bounds));
    };
    if (repeatable && differ(record.target_error, gate.target_error))
      return tell("target", record.target_error, gate.target_error);
    if (facts.same_reference && differ(record.reference_error, gate.reference_error))
      return tell("reference", record.reference_error, gate.reference_error);
  }
  return std::nullopt;
}

} // namespace assay
