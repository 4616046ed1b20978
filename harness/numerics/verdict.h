// The four verdicts, in ascending order of badness (method: section 9).
#pragma once

#include "harness/numerics/gate.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace assay {

enum class Verdict : std::uint8_t { pass, pass_with_limitations, inconclusive, fail };

std::string_view name_of(Verdict verdict); // "PASS WITH LIMITATIONS"

inline Verdict worst(Verdict a, Verdict b) { return std::max(a, b); }

int exit_code(Verdict verdict); // 0, 0, 3, 1

// What follows from one output's comparison alone. FAIL: wrong structure, or a valid gate exceeded.
// INCONCLUSIVE: the gate is not valid (section 5 may resolve it), no element could be judged though there are
// some that overflow, or an internal fault. PASS WITH LIMITATIONS: every judged element passes but some left
// the numbers because the formula overflows, or some lines' own gates are not valid. An output without
// elements passes.
Verdict verdict_of(const Comparison& comparison);

} // namespace assay
