// Everything that is needed to draw legal cases of one kernel, and what is done with it: draw, mutate, cross,
// repair, the sweep of classic corner cases, and the candidates from which shrinking chooses. harness/run
// builds it from the manifest and the operator. Every function is deterministic in its arguments.
#pragma once

#include "harness/cases/case.h"
#include "harness/inputs/domain.h"
#include "harness/inputs/rng.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct ParamSpec {
  std::string name;
  std::vector<double> values; // one, or several between which the search chooses
};

// One input or upstream gradient.
struct InputSpec {
  std::string name;
  std::optional<DType> dtype;    // nullopt: T, the case's type
  std::vector<Expression> shape; // over the dims
  Domain domain;
  bool upstream = false; // only part of backward cases
  LayoutText layout;     // what its memory may differ in from a dense one (none of the flags: nothing)
};

// A quantity over the dims that no case of the search may exceed: elements of a tensor, threads of a launch.
struct Budget {
  std::string name; // "the threads of launch 1"
  Expression amount;
  std::int64_t limit = 0;
  std::int64_t whole_limit = 0; // for the few cases that take the whole budgets
};

struct CaseSpace {
  std::string manifest; // as cases name it
  std::string source_hash;
  std::vector<DType> dtypes;
  bool has_backward = false;
  std::vector<DimRange> dims; // in the op's order, already within the op's own limits
  std::vector<ParamSpec> params;
  std::vector<InputSpec> inputs; // in the op's order
  Tolerance tolerance;
  std::int64_t element_budget = std::int64_t{1} << 20; // elements of all inputs together
  std::vector<Budget> budgets; // outputs, scratch, work: whatever else must stay small
  std::vector<std::vector<std::int64_t>>
      written;                      // of each dim: sizes in the manifest's expressions; may be empty
  std::vector<std::int64_t> learnt; // sizes seen in comparisons of device code
};

// The shape of an input for given dims. Expressions that fail (overflow, division by zero) or give a negative
// size, and more than 2^31 elements: user error.
Result<std::vector<std::int64_t>> shape_of(const InputSpec& spec,
                                           std::span<const std::pair<std::string, std::int64_t>> dims);

// Whether a case, as loaded from a file, may run on this kernel: its dims, params, inputs (all there, none
// unknown, types, distributions fit for their domains, patches, overrides and layouts inside the shape), pass
// and dtype. Budgets do not count here. User errors at the line of the case that says it.
Result<void> check_case(const Case& test_case, const CaseSpace& space);

// The nearest legal case within the budgets: what is missing is added at its simplest, what is unknown is
// dropped, what is out of range is moved inside. A case that is legal and within the budgets is returned
// unchanged. Any case can be repaired unless the space itself has no legal dims within its budgets: user
// error.
Result<Case> repair(Case test_case, const CaseSpace& space);

// A random legal case within the budgets.
Case draw_case(const CaseSpace& space, Rng& rng);

// One change, small or large, of a legal case: shape, type, pass, a distribution, its parameters, a seed,
// patches, overrides, layout, schedule, params. Legal and within the budgets again; differs from what it was
// given unless the space holds one case only.
Case mutate(const Case& test_case, const CaseSpace& space, Rng& rng);

// The shape of one parent, of each tensor the values of either.
Case crossover(const Case& a, const Case& b, const CaseSpace& space, Rng& rng);

// The classic corner cases, those that show faults fastest first: small shapes with every distribution that
// applies, then tile edges, then production sizes; each of them for every type and pass in turn; at last each
// dim at its limits beside the smallest others, the only cases that take the whole budgets. A few hundred.
std::vector<Case> corner_cases(const CaseSpace& space);

// --- what harness/reduce chooses from ---

// In the order in which shrinking tries them.
enum class Axis : std::uint8_t {
  dims,          // each dim to its smallest, then by halving, then one less
  pass,          // backward to forward
  dtype,         // to a simpler type, values kept as nearly as the type can
  layout,        // dense
  patches,       // all away, then halves, then one; then fewer lines
  distributions, // to zero, constant and every simpler kind; parameters to their defaults, then to round
                 // values
  materialise, // a small tensor's generated values as overrides of a zero tensor, so that they can be dropped
               // one by one
  overrides,   // all away, then halves, quarters, ..., then each alone
  values,      // each override to 0, 1, -1, then to fewer significant digits
  params,      // to the first of their choices
  seeds,       // to 0, then small ones; the schedule too
};
inline constexpr int axis_count = 11;

// Legal cases that are each simpler (cases/order.h) than the given one, boldest first. Shrinking walks them
// in order and restarts at the first that still fails; where none is left on any axis, the case is minimal.
std::vector<Case> simplifications(const Case& test_case, const CaseSpace& space, Axis axis);

} // namespace assay
