// An operator as the rest of the harness sees it: what tensors it has, and its
// formula evaluated by any instrument (method: sections 1, 7; the formulas
// themselves are in one header an operator).
#pragma once

#include "harness/inputs/domain.h"
#include "harness/numerics/dtype.h"
#include "harness/numerics/signature.h"
#include "harness/numerics/tensor.h"
#include "harness/ops/formula.h"
#include "harness/ops/function_bounds.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct TensorInfo {
  std::string name;
  Role role = Role::input;
  std::optional<DType> dtype;     // nullopt: T, the case's type
  std::vector<std::string> shape; // each a dim's name, or an expression of dims ("2 * head_dim")
  bool optional = false;          // a kernel may leave it out
  bool starts_at_zero = false;    // output: the host clears it before the launch (scatter_add_rows)
  Domain domain;                  // which values are legal, for inputs
  std::string of;                 // gradient: the input it belongs to; upstream: the output
};

struct DimInfo {
  std::string name;
  std::int64_t min = 0;         // the smallest size the formula is defined for
  std::int64_t multiple_of = 1; // head_dim of rope is even
};

struct ParamInfo {
  std::string name;
  DType dtype = DType::f32;    // f32 or i32: how it is passed to a kernel; its
                               // value is rounded to this first
  double initial = 0;          // where a manifest names none
  std::vector<double> choices; // every legal value, where there are few
                               // (causal: 0, 1); else empty
};

struct OpInfo {
  std::string name;
  std::vector<DimInfo> dims;
  std::vector<TensorInfo> tensors;
  std::vector<ParamInfo> params;
  bool elementwise = false;  // judged by ULP as well, forward (method: section 6)
  double max_ulp_narrow = 1; // f16 and bf16 outputs
  double max_ulp_f32 = 2;
  bool exact = false; // outputs have no rounding at all: relu, max, transpose, ...
  bool has_backward = false;
  bool reduces = false;                         // has a reduction, so that the order of evaluation matters
  std::vector<std::string> algorithms;          // the legal ones, forward; [0] is the plain formula
  std::vector<std::string> backward_algorithms; // likewise; empty where there is no backward
};

// Legal orders of a reduction (method: section 7).
enum class Order : std::uint8_t { sequential, pairwise, blocked, strided };

// How a formula is evaluated.
struct Instrument {
  enum class Number : std::uint8_t {
    golden,   // double with double-double sums and its own error bound;
              // double-double throughout for f64 cases
    plain,    // the arithmetic type of the case (float, or double for f64),
              // rounded where the eager formula rounds
    noise,    // like plain, every operation rounded up or down at random
    rigorous, // the worst that the arithmetic type can do on this input in any
              // order, rounding to nearest
  };
  enum class Functions : std::uint8_t { best, all_up, all_down, random_signs };
  Number number = Number::plain;
  Order order = Order::sequential;
  std::int64_t width = 1;                // blocked: elements a block; strided: threads
  bool contract = false;                 // a * b + c is one fused multiply-add wherever the
                                         // formula offers one
  int algorithm = 0;                     // index into OpInfo::algorithms, or backward_algorithms
  Functions functions = Functions::best; // transcendentals and rsqrt off by
                                         // their documented maximum
  Approximations approximate = 0;        // functions: the PTX .approx bounds instead of
                                         // CUDA's math library's
  std::uint64_t seed = 0;                // for noise and random_signs
  bool moves_exact = false;              // noise: results that are exact by the data's luck move, too
  // Suspects (method: section 10): ways in which kernels are commonly wrong.
  unsigned narrowed = 0; // a set of Narrowed: rounded to `narrow` as well, or had another way
  DType narrow = DType::f16;
  bool without_maximum = false;   // the largest of a line counts as 0: exponentials of what was never shifted
  bool one_pass_variance = false; // E[x^2] - E[x]^2
};

// Results that a suspect rounds to a type narrower than the arithmetic's, and ways to have results other than
// as the formula is written. All but the last four are wrong.
enum Narrowed : unsigned {
  narrowed_accumulators = 1, // a sum, after each of its terms
  narrowed_sums = 2,         // a sum, once
  narrowed_products = 4,
  narrowed_additions = 8, // and differences; no terms of sums
  narrowed_quotients = 16,
  narrowed_functions = 32,
  exponent_products = 64, // exp(a - b) = exp2(a * log2(e) - b * log2(e)): all digits of a and b count
  exponent_fused = 128,   // the same, the first product and the difference by one fused multiply-add
  products_first = 256,   // a * (b * c) as (a * b) * c: what overflows and underflows on the way differs
  products_last = 512,    // (a * b) * c as a * (b * c)
  reciprocals = 1024,     // a / b as a * (1 / b), both rounded, wherever 1 / b is finite and not 0
  products_across = 2048, // (a * b) * c and a * (b * c) as (a * c) * b
};

// One output or gradient as an instrument computed it; all vectors have one
// entry an element, or are empty.
struct Evaluated {
  std::string tensor;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<double> value;                   // plain and noise: after rounding to dtype,
                                               // widened; integers exactly
  std::vector<double> value_low;               // golden of f64 cases: the second word of the double-double
  std::vector<double> bound;                   // golden: its own error bound; rigorous: the bound on |t - g|
  std::vector<double> magnitude;               // golden: S of method section 3: the sum of magnitudes of the
                                               // terms behind the element, carried through the formula to
                                               // first order; magnitude / |value| is the element's condition
                                               // number
  std::vector<double> alternative;             // golden, integer outputs: another value that is right too
                                               // (beside a tie; the element's definition says when), else
                                               // the value itself; empty for other outputs
  std::vector<std::uint8_t> formula_overflows; // golden: the legal formula itself may overflow here
                                               // (section 2)
  std::vector<std::int64_t> line_starts;       // first element of each independent line, ascending, ends
                                               // with the count; an elementwise tensor is one line
};

// One instance of an operator. tensors: inputs, and for backward also upstream
// gradients, in OpInfo order. Shapes must be those that OpInfo gives for dims,
// index values inside their domain: both are checked (ASSAY_CHECK).
struct Problem {
  Pass pass = Pass::forward;
  DType dtype = DType::f32;
  std::vector<std::int64_t> dims; // in OpInfo order
  std::vector<double> params;     // in OpInfo order, already rounded to the param's type
  std::vector<const Tensor*> tensors;
};

class Op {
 public:
  virtual ~Op() = default;
  virtual const OpInfo& info() const = 0;
  // The forward outputs for Pass::forward, the gradients for Pass::backward, in
  // OpInfo order.
  virtual std::vector<Evaluated> evaluate(const Problem& problem, const Instrument& instrument) const = 0;
};

// Built-in operators, by name; null where there is none.
const Op* find_op(std::string_view name);
std::vector<const Op*> all_ops();

} // namespace assay
