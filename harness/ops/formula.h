// What an operator's header declares about itself: dims, tensors, params, legal
// algorithms. Literal types only, so that NVRTC compiles the same header; the
// vocabulary in which the formula itself is written is line.h.
//
//   struct Softmax {
//     static constexpr auto name = "softmax";
//     static constexpr Dim rows{0, "rows"}, cols{1, "cols"};
//     static constexpr Dim dims[] = {rows, cols};
//     static constexpr auto x = TensorSpec::input(0, "x", "rows, cols"), y =
//     TensorSpec::output(1, "y", "rows, cols"); static constexpr TensorSpec
//     tensors[] = {x, y}; template <class Run> static void forward(Run& run) {
//     run.lines(rows, [](auto& line) { ... }); }
//   };
//
// Optional members: params[], algorithms[], backward_algorithms[] (names of the
// legal ones, the plain formula first), elementwise, exact, max_ulp_f32,
// max_ulp_narrow (method: sections 2 and 6), one_form (golden and reference take
// the same steps: no is_golden, comparison, maximum, combine or scan decides what
// is stored), and a second formula `backward`, which stores the gradients.
#pragma once

#include "harness/inputs/domain_kind.h"
#include "harness/numerics/dtype.h"

namespace assay {

struct Dim {
  int index; // its place in dims[]
  const char* name;
  long long min = 0;
  long long multiple_of = 1;
};

struct Param {
  int index; // its place in params[]
  const char* name;
  DType dtype;
  double initial;
  bool flag = false; // 0 or 1
};

enum class Role : unsigned char { input, output, upstream, gradient };

// One tensor. `shape` lists dims, or products of a number and a dim, separated
// by commas: "max_position, 2 * head_dim".
struct TensorSpec {
  int index; // its place in tensors[]
  const char* name;
  const char* shape;
  Role role;
  DType type = DType::f32; // meaningful where has_type; else the case's type T
  bool has_type = false;
  bool is_optional = false;
  bool is_cleared = false; // starts at 0
  DomainKind domain = DomainKind::real;
  const char* limit = "";
  bool has_specials = false;
  const char* of = "";

  static constexpr TensorSpec input(int index, const char* name, const char* shape) {
    return {index, name, shape, Role::input};
  }
  static constexpr TensorSpec output(int index, const char* name, const char* shape) {
    return {index, name, shape, Role::output};
  }
  // The gradient that arrives at an output, and the one that leaves for an
  // input: shaped and typed like them.
  static constexpr TensorSpec upstream(int index, const char* name, const TensorSpec& output) {
    TensorSpec spec = output;
    spec.index = index, spec.name = name, spec.role = Role::upstream, spec.of = output.name;
    return spec;
  }
  static constexpr TensorSpec gradient(int index, const char* name, const TensorSpec& input) {
    TensorSpec spec = input;
    spec.index = index, spec.name = name, spec.role = Role::gradient, spec.of = input.name;
    spec.has_specials = false;
    return spec;
  }
  constexpr TensorSpec as(DType dtype) const {
    TensorSpec spec = *this;
    spec.type = dtype, spec.has_type = true;
    return spec;
  }
  // A kernel may leave this output out.
  constexpr TensorSpec optional() const {
    TensorSpec spec = *this;
    spec.is_optional = true;
    return spec;
  }
  // The host clears this output before the launch.
  constexpr TensorSpec cleared() const {
    TensorSpec spec = *this;
    spec.is_cleared = true;
    return spec;
  }
  // The operator defines its result where this input holds NaN or infinities.
  constexpr TensorSpec specials() const {
    TensorSpec spec = *this;
    spec.has_specials = true;
    return spec;
  }
  constexpr TensorSpec in(DomainKind kind, const char* limiting_dim = "") const {
    TensorSpec spec = *this;
    spec.domain = kind, spec.limit = limiting_dim;
    return spec;
  }
};

// The indices of one element.
struct At {
  long long i[4] = {0, 0, 0, 0};
  int rank = 0;
  constexpr At(long long a) : i{a, 0, 0, 0}, rank(1) {}
  constexpr At(long long a, long long b) : i{a, b, 0, 0}, rank(2) {}
  constexpr At(long long a, long long b, long long c) : i{a, b, c, 0}, rank(3) {}
  constexpr At(long long a, long long b, long long c, long long d) : i{a, b, c, d}, rank(4) {}
};

// A real constant that no double holds: high + low to about 106 bits.
struct Constant {
  double high, low;
};
inline constexpr Constant sqrt_half{0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55}; // 1 / sqrt(2)
inline constexpr Constant sqrt_two_over_pi{0x1.9884533d43651p-1, -0x1.cbc0d30ebfd15p-55};
inline constexpr Constant one_over_sqrt_two_pi{0x1.9884533d43651p-2, -0x1.cbc0d30ebfd15p-56};
inline constexpr Constant gelu_cubic{0x1.6e4e26d4801f7p-5, 0x1.441355475a31ap-59}; // 0.044715

} // namespace assay
