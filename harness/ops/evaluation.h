// One evaluation of one operator: what lies around the formula. Independent of
// the formula and of the number type.
#pragma once

#include "harness/ops/formula.h"
#include "harness/ops/line.h"
#include "harness/ops/op.h"

#include <span>
#include <vector>

namespace assay {

// What info() says, from an operator's declarations.
struct Declarations {
  const char* name = "";
  std::span<const Dim> dims;
  std::span<const TensorSpec> tensors;
  std::span<const Param> params;
  std::span<const char* const> algorithms, backward_algorithms;
  bool elementwise = false, exact = false, reduces = false, has_backward = false;
  double max_ulp_narrow = 1, max_ulp_f32 = 2;
};
OpInfo make_info(const Declarations& declarations);

// The size of each axis of a tensor shaped `shape` ("max_position, 2 *
// head_dim").
std::vector<std::int64_t> axes_of(const char* shape, std::span<const Dim> dims,
                                  std::span<const std::int64_t> sizes);

class Evaluation {
 public:
  // Checks the problem against the declarations, widens the inputs and makes
  // room for the outputs; sets the thread's number context.
  Evaluation(const Declarations& declarations, const Problem& problem, const Instrument& instrument);

  template <class N> Run<N> run() {
    Run<N> run;
    run.tensors = views_;
    run.dims = problem_.dims;
    run.params = problem_.params;
    run.instrument = instrument_;
    run.storage = &format_of(problem_.dtype);
    run.operations = operations_;
    return run;
  }

  // Rounds plain values to their types, completes the lines.
  std::vector<Evaluated> finish() &&;

 private:
  const Problem& problem_;
  const Instrument& instrument_;
  double operations_ = 0;                    // Run::operations
  std::vector<TensorView> views_;            // one a tensor of the operator
  std::vector<std::vector<double>> widened_; // of the inputs
  std::vector<Evaluated> results_;
};

} // namespace assay
