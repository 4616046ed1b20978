#include "harness/run/suspects.h"

#include "harness/run/describe.h"
#include "harness/run/suspect_tests.h"

#include <algorithm>

namespace assay {

namespace {

constexpr std::size_t most_trials = 4, most_right = 3;

// Kinds that the device saw: their message is the evidence.
Diagnosis diagnose_fault(const Finding& finding) {
  Diagnosis diagnosis;
  const Kind kind = finding.signature.kind;
  switch (kind) {
  case Kind::out_of_bounds:
  case Kind::misaligned:
    diagnosis.suspects.push_back({Cause::indexing, 1, finding.message});
    break;
  case Kind::unwritten:
  case Kind::input_modified:
    diagnosis.suspects.push_back({Cause::indexing, 0.9, finding.message});
    break;
  case Kind::uninitialized: // a missing barrier shows so too
    diagnosis.suspects.push_back({Cause::indexing, 0.6, finding.message});
    break;
  default:
    diagnosis.note = fmt::format(
        "none of the seven suspects: the kind is the cause, {}{}", name_of(kind),
        finding.signature.place == Place{} ? std::string() : " at " + to_string(finding.signature.place));
  }
  return diagnosis;
}

Scene scene_of(Kernel& kernel, const Finding& finding) {
  Scene scene{kernel, finding, {}, {}};
  const auto add = [&](const Case& test_case) {
    if (scene.trials.size() >= most_trials) return;
    if (auto failing = try_failing(kernel, test_case, finding.signature.output))
      scene.trials.push_back(*std::move(failing));
    else if (auto right = try_right(kernel, test_case, finding.signature.output);
             right && scene.right.size() < most_right)
      scene.right.push_back(*std::move(right));
  };
  add(finding.test_case);
  for (const Case& richer : richer_cases(kernel, finding.test_case)) add(richer);
  return scene;
}

Diagnosis conclude_from(const Evidences& evidence) {
  Diagnosis diagnosis;
  diagnosis.suspects = ranked(evidence);
  diagnosis.cleared = cleared(evidence);
  if (diagnosis.suspects.empty())
    diagnosis.note = "none of the seven suspects fits: no test found evidence enough";
  return diagnosis;
}

} // namespace

Result<Diagnosis> diagnose(Kernel& kernel, const Finding& finding) {
  const Kind kind = finding.signature.kind;
  if (kind == Kind::nondeterministic) {
    Diagnosis diagnosis = conclude_from(suspect_order(kernel, finding));
    if (diagnosis.suspects.empty() && !diagnosis.cleared.empty())
      diagnosis.note =
          "none of the seven suspects: results depend on the order of blocks and warps (see race)";
    return diagnosis;
  }
  const bool by_numbers = kind == Kind::structure || kind == Kind::mismatch || kind == Kind::gate ||
                          kind == Kind::ulp || kind == Kind::bias;
  if (!by_numbers) return diagnose_fault(finding);

  Scene scene = scene_of(kernel, finding);
  if (scene.trials.empty()) {
    Diagnosis diagnosis;
    diagnosis.note = "no suspect was tested: the case does not show the fault on its own";
    return diagnosis;
  }
  Evidences all;
  for (Evidences (*test)(const Scene&) : {suspect_influence, suspect_sizes, suspect_formulas,
                                          suspect_variants, suspect_functions, suspect_backward})
    for (CauseEvidence& evidence : test(scene)) all.push_back(std::move(evidence));
  Diagnosis diagnosis = conclude_from(all);
  for (std::size_t k = 0; k < scene.trials.size() && diagnosis.suspects.empty(); ++k)
    if (const auto factor = constant_factor({&scene.trials[k], 1})) {
      diagnosis.note += fmt::format("; {} is {} times the golden throughout one case",
                                    finding.signature.output, value_text(*factor));
      break;
    }
  diagnosis.trials = std::move(scene.trials);
  return diagnosis;
}

} // namespace assay
