// What an output's signed errors add up to: whether a bias (bias.h) is worth pooling them for.
#pragma once

#include "harness/numerics/errors.h"

#include <cstdint>
#include <span>

namespace assay {

struct ErrorSum {
  std::int64_t count = 0; // elements
  double sum = 0;         // of their errors in output ULPs, positive away from zero
};
// Of the elements that pool() takes where decided_roundings() are given to it. Added up in blocks, in one
// order. The output's type: one that bias_applies() to.
ErrorSum sum_of_errors(const Comparands& comparands, std::span<const double> values, double least);

} // namespace assay
