#include "harness/numerics/verdict.h"

namespace assay {

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
    return "PASS";
  case Verdict::pass_with_limitations:
    return "PASS WITH LIMITATIONS";
  case Verdict::inconclusive:
    return "INCONCLUSIVE";
  case Verdict::fail:
    return "FAIL";
  }
  return "FAIL";
}

int exit_code(Verdict verdict) {
  switch (verdict) {
  case Verdict::pass:
  case Verdict::pass_with_limitations:
    return 0;
  case Verdict::inconclusive:
    return 3;
  case Verdict::fail:
    return 1;
  }
  return 1;
}

Verdict verdict_of(const Comparison& comparison) {
  const Structure& structure = comparison.structure;
  const Gate& gate = comparison.gate;
  if (!structure.passed()) return Verdict::fail;
  if (comparison.internal_fault || !gate.valid()) return Verdict::inconclusive;
  if (!gate.passed()) return Verdict::fail;
  if (structure.formula_overflow > 0)
    return structure.judged == 0 ? Verdict::inconclusive : Verdict::pass_with_limitations;
  return gate.lines.lines_invalid > 0 ? Verdict::pass_with_limitations : Verdict::pass;
}

} // namespace assay
