// The total order "simpler than" on cases, by which shrinking is measured. Read it as a dictionary order over
// what a person has to take in, most burdensome first, as in Hypothesis:
//
//  1. volume: the product of the dims, then their sum. Nothing tires a reader like size; and a smaller
//  problem has fewer
//     places for the fault, so size outweighs everything below.
//  2. inputs off their base value everywhere: tensors and line patches whose values must be generated to be
//  known.
//  3. single places off the base value: overrides, and patches or distributions with one place a line.
//  4. backward after forward; the types in the order f32, f64, f16, bf16, f8e4m3, f8e5m2, the rest.
//  5. layouts with strides, then offsets.
//  6. ranks of the distributions (their place in the table), then the length of their parameters' text.
//  7. digits of the override values, then seeds, schedule and params, by the length of their text.
//  8. the canonical text itself: two cases are equal in this order only if their texts are.
//
// The tolerance, the expectation and the source's hash describe the judgement, not the input: they count in 8
// only.
#pragma once

#include "harness/cases/case.h"

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace assay {

struct CaseSize {
  std::array<std::uint64_t, 12> parts{}; // compared in order; saturating
  std::string text;                      // the canonical text, compared last

  auto operator<=>(const CaseSize&) const = default;
};

CaseSize size_of(const Case& test_case);

// A strict total order up to canonical text.
bool simpler(const Case& a, const Case& b);

} // namespace assay
