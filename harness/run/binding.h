// A manifest's names bound to what they mean for one operator: the checks that need both, but no compiled
// kernel.
#pragma once

#include "harness/base/error.h"
#include "harness/cases/manifest.h"
#include "harness/inputs/space.h"
#include "harness/ops/op.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {

struct BoundArgument {
  enum class Form : std::uint8_t {
    tensor,
    scratch,
    dim,
    let,
    param,
    size,   // of one dimension of a tensor
    stride, // likewise
    scratch_size,
    scratch_stride,
    zero,
    null
  };
  Form form = Form::null;
  std::size_t index = 0;  // of the tensor, scratch buffer, dim, let or param
  int of_dim = 0;         // for sizes and strides
  std::uint8_t bytes = 8; // 0: whatever the kernel's parameter has (zero)
  std::string text;       // as written, for messages
  Place place;
};

struct Binding {
  std::vector<std::vector<BoundArgument>> args;       // by launch; a memref is as many as MLIR passes for it
  std::vector<std::vector<Expression>> tensor_shapes; // in OpInfo order
  std::vector<bool> named;                            // tensors that some launch takes
  std::vector<DimRange> dims;                         // in OpInfo order, within the operator's limits
  std::vector<ParamSpec> params;                      // in OpInfo order
  std::vector<LayoutText> layouts;                    // by tensor, in OpInfo order
};

// Of a key of the manifest, as "tolerance.max_ulp": its own place, its table's, or the file's.
Place place_of(const Manifest& manifest, const std::string& key);

// Every name must be known, every dim of the operator must be given, tolerances must suit it: user errors at
// the place.
Result<Binding> bind_names(const Manifest& manifest, const Op& op);

// What the fuzzer may draw. Budgets bound the elements of every tensor and scratch buffer and the threads of
// a launch.
Result<CaseSpace> case_space(const Manifest& manifest, const Op& op, const Binding& binding,
                             std::int64_t element_budget);

// A param's value as the kernel gets it.
double round_param(const ParamInfo& param, double value);

// "softmax<${T}, ${block}>" with every ${name} replaced. `value` gives the text of T or of an integer.
Result<std::string> expand_name(const std::string& text, const Place& place,
                                const std::function<std::optional<std::string>(const std::string&)>& value);

} // namespace assay
