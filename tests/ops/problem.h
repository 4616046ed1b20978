// Problems for tests of operators: owned tensors, filled by name.
#pragma once

#include "harness/numerics/bulk.h"
#include "harness/ops/op.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::testing {

// Ways to fill a tensor, chosen to be hard on formulas.
inline constexpr std::string_view kinds[] = {
    "normal", "uniform", "cancelling", "extreme",     "offset", "tiny_noise",   "subnormal",   "ramp",
    "equal",  "one_hot", "wide",       "alternating", "zero",   "one_in_front", "near_largest"};

class OwnedProblem {
 public:
  OwnedProblem(const Op& op, Pass pass, DType dtype, std::vector<std::int64_t> dims);

  const Op& op;
  Problem problem; // points into tensors

  // Every real input by `kind`; upstream gradients normal. Integers by their domain.
  OwnedProblem& fill(std::string_view kind, std::uint64_t seed);
  OwnedProblem& set(std::string_view tensor, const std::vector<double>& values);
  std::vector<double> values(std::string_view tensor) const { return widen(*find(tensor)); }
  std::int64_t dim(std::string_view name) const;

  std::vector<Evaluated> evaluate(const Instrument& instrument) const {
    return op.evaluate(problem, instrument);
  }

 private:
  Tensor* find(std::string_view tensor) const;
  std::vector<std::pair<std::string, std::unique_ptr<Tensor>>> tensors_;
};

// `count` values of a kind, representable in dtype. line: elements a line, for kinds that are about lines.
std::vector<double> draw(std::string_view kind, DType dtype, std::int64_t count, std::int64_t line,
                         std::uint64_t seed);

const Evaluated& named(const std::vector<Evaluated>& all, std::string_view tensor);

inline Instrument instrument(Instrument::Number number) {
  Instrument i;
  i.number = number;
  return i;
}
inline const Instrument golden = instrument(Instrument::Number::golden);
inline const Instrument rigorous = instrument(Instrument::Number::rigorous);
inline const Instrument reference{};

// Every instrument that a legal evaluation may be (noise is not: it rounds up and down).
std::vector<Instrument> legal_instruments(const Op& op, Pass pass);
std::string describe(const Instrument& instrument);

} // namespace assay::testing
