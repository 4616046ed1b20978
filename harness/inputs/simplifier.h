// What shrinking may try next on a case, axis by axis: the class behind simplifications() of space.h. A file
// for each idea: simplify.cpp (types, passes, params, seeds), simplify_shape.cpp (sizes and layouts),
// simplify_distributions.cpp (how values are drawn), simplify_values.cpp (single values, lines and places).
#pragma once

#include "harness/cases/order.h"
#include "harness/inputs/legal.h"
#include "harness/numerics/tensor.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

// `value` with so many significant decimal digits.
double rounded_to_digits(double value, int count);

class Simplifier {
 public:
  Simplifier(const Case& test_case, const CaseSpace& space);
  std::vector<Case> run(Axis axis); // boldest first; each legal and simpler

 private:
  void dims();
  void pass();
  void dtype();
  void layout();
  void patches();
  void distributions();
  void materialise();
  void overrides();
  void values();
  void params();
  void seeds();

  // Keeps a candidate if it is legal (as it stands, or once what no longer fits is dropped or moved) and
  // simpler.
  void offer(Case candidate, bool keep_places = false);
  // A change of one input; `change` returns false where there is nothing to change.
  template <class Change> void offer_input(std::size_t which, Change change) {
    Case candidate = case_;
    if (change(candidate.inputs[which])) offer(std::move(candidate));
  }
  template <class Change> void offer_all_inputs(Change change) {
    Case candidate = case_;
    bool any = false;
    for (TensorInput& input : candidate.inputs) any = change(input) || any;
    if (any) offer(std::move(candidate));
  }

  const DimRange* range_of(const std::string& name) const; // null where the space has no such dim
  const InputSpec* spec_of(const TensorInput& input) const;

  void offer_dims(const Dims& dims);
  void fewer_drawn_anew();
  void plainer_strides(std::size_t which);

  bool set_kind(const TensorInput& input, Distribution& distribution, DistributionKind kind) const;
  template <class Get> void simpler_kinds(std::size_t which, Get get);

  // Without all, each half, quarter, eighth, sixteenth of a list, and where it is short, without each entry
  // alone.
  template <class Entries> void offer_without_parts(std::size_t which, Entries TensorInput::* list);
  void constants(std::size_t which);
  void one_element(std::size_t which, const Shape& shape);
  void become(TensorInput& input, DistributionKind base, const Tensor& tensor) const;

  Case case_;
  const CaseSpace& space_;
  CaseSize size_;
  std::vector<Case> found_;
};

} // namespace assay
