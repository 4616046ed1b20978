#include "tests/conformance/bounds.h"

#include <array>
#include <cmath>

namespace assay::conformance {
namespace {

const double pi = std::acos(-1.0);

// PTX ISA 8.x, "Instruction set", floating point and half precision floating point instructions.
const std::array bounds{
    Bound{"div.full", 2, 0, 0, 0, "div: maximum ulp error 2"},
    Bound{"div.approx", 2, 0, 0, 0, "div: maximum ulp error 2 for |b| in [2^-126, 2^126]"},
    Bound{"rcp.approx.ftz.f64", 0, std::ldexp(1, -20), 0, 0,
          "rcp.approx.ftz.f64: gross approximation, upper 32 bits"},
    Bound{"rcp.approx", 1, 0, 0, 0, "rcp: maximum ulp error 1"},
    Bound{"sqrt.approx", 0, std::ldexp(1, -23), 0, 0, "sqrt: maximum relative error 2^-23"},
    Bound{"rsqrt.approx.f64", 2, 0, 0, 0, "rsqrt: none stated for .f64 without .ftz; 2 ulp taken"},
    Bound{"rsqrt.approx.ftz.f64", 0, std::ldexp(1, -20), 0, 0,
          "rsqrt.approx.ftz.f64: gross approximation, upper 32 bits"},
    Bound{"rsqrt.approx", 0, std::exp2(-22.9), 0, 0, "rsqrt: maximum relative error 2^-22.9"},
    Bound{"ex2.approx.f32", 2, 0, 0, 0, "ex2: 2 ulp"},
    Bound{"ex2.approx.ftz.f32", 2, 0, 0, 0, "ex2: 2 ulp"},
    Bound{"ex2.approx.f16", 0, std::exp2(-9.9), 0, 0, "ex2 (half): maximum relative error 2^-9.9"},
    Bound{"ex2.approx.ftz.bf16", 0, std::ldexp(1, -7), 0, 0, "ex2 (half): maximum relative error 2^-7"},
    Bound{"lg2.approx", 0, std::ldexp(1, -22), std::ldexp(1, -22), 0,
          "lg2: 2^-22 absolute for operands in (0.5, 2), relative elsewhere"},
    Bound{"sin.approx", 0, 0, std::exp2(-20.5), pi, "sin: 2^-20.5 absolute in [-pi, pi]"},
    Bound{"cos.approx", 0, 0, std::exp2(-20.5), pi, "cos: 2^-20.5 absolute in [-pi, pi]"},
    Bound{"tanh.approx.f32", 0, std::ldexp(1, -11), 0, 0, "tanh: maximum relative error 2^-11"},
    Bound{"tanh.approx.f16", 0, 0, std::exp2(-10.987), 0, "tanh (half): maximum absolute error 2^-10.987"},
    Bound{"tanh.approx.bf16", 0, 0, std::ldexp(1, -8), 0, "tanh (half): maximum absolute error 2^-8"},
};

} // namespace

std::optional<Bound> bound_of(std::string_view ptx) {
  for (const Bound& bound : bounds)
    if (ptx.starts_with(bound.instruction)) return bound;
  return std::nullopt;
}

} // namespace assay::conformance
