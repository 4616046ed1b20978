// The fixed cases of `assay verify` (method: section 9): every distribution class that applies, for every
// input, type and pass; production shapes, the smallest legal ones, each dim one below, at and one above
// every tile size.
#pragma once

#include "harness/cases/case.h"
#include "harness/inputs/space.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct VerifyCase {
  Case test_case;
  bool repeat =
      false; // of the declared sample that runs twice (method: section 8): every shape, once a type and pass
};

struct VerifyCases {
  std::vector<VerifyCase> cases;
  std::vector<std::string> not_covered; // sizes that the space's budgets do not allow, one line each
};

// Deterministic in the space and the seed, from which inputs and schedules are drawn: the cases are the same
// for every seed, their random values are not. Combinations are bounded: one dim at a time leaves the small
// ones, then all together at their smallest, tile edges and production sizes.
VerifyCases verify_cases(const CaseSpace& space, std::uint64_t seed = 0);

} // namespace assay
