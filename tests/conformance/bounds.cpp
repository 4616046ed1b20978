#include "tests/conformance/bounds.h"

#include <array>
#include <cmath>

namespace assay::conformance {
namespace {

const double pi = std::acos(-1.0);

// PTX ISA 9.1, sections 9.7.3 (floating point) and 9.7.4 (half precision floating point).
const std::array bounds{
    Bound{.instruction = "div.full", .ulps = 2, .source = "9.7.3.8 div: maximum ulp error 2, full range"},
    Bound{.instruction = "div.approx",
          .ulps = 2,
          .source = "9.7.3.8 div: maximum ulp error 2 for |b| in [2^-126, 2^126]"},
    Bound{.instruction = "rcp.approx.ftz.f64",
          .relative = std::ldexp(1, -20),
          .source = "9.7.3.14: no figure; a result of 20 bits behind the point"},
    Bound{.instruction = "rcp.approx", .ulps = 1, .source = "9.7.3.13 rcp: maximum ulp error 1"},
    Bound{.instruction = "sqrt.approx",
          .relative = std::ldexp(1, -23),
          .source = "9.7.3.15 sqrt: maximum relative error 2^-23"},
    Bound{.instruction = "rsqrt.approx.f64",
          .ulps = 2,
          .source = "9.7.3.16 rsqrt: no figure for .f64, which is emulated; 2 ulp taken"},
    Bound{.instruction = "rsqrt.approx.ftz.f64",
          .relative = std::ldexp(1, -20),
          .source = "9.7.3.17: no figure; a result of 20 bits behind the point"},
    Bound{.instruction = "rsqrt.approx",
          .relative = std::exp2(-22.9),
          .source = "9.7.3.16 rsqrt: maximum relative error 2^-22.9"},
    Bound{.instruction = "ex2.approx.f32", .ulps = 2, .source = "9.7.3.21 ex2: maximum ulp error 2"},
    Bound{.instruction = "ex2.approx.ftz.f32", .ulps = 2, .source = "9.7.3.21 ex2: maximum ulp error 2"},
    Bound{.instruction = "ex2.approx.f16",
          .relative = std::exp2(-9.9),
          .source = "9.7.4.10 ex2: maximum relative error 2^-9.9"},
    Bound{.instruction = "ex2.approx.ftz.bf16",
          .relative = std::ldexp(1, -7),
          .source = "9.7.4.10 ex2: maximum relative error 2^-7"},
    Bound{.instruction = "lg2.approx",
          .relative = std::ldexp(1, -22),
          .absolute = std::ldexp(1, -22),
          .source = "9.7.3.20 lg2: 2^-22 absolute for operands in (0.5, 2), relative elsewhere"},
    Bound{.instruction = "sin.approx",
          .absolute = std::exp2(-20.5),
          .within = 2 * pi,
          .far_absolute = std::exp2(-14.7),
          .far_within = 100 * pi,
          .source = "9.7.3.18 sin: absolute, 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]"},
    Bound{.instruction = "cos.approx",
          .absolute = std::exp2(-20.5),
          .within = 2 * pi,
          .far_absolute = std::exp2(-14.7),
          .far_within = 100 * pi,
          .source = "9.7.3.19 cos: absolute, 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]"},
    Bound{.instruction = "tanh.approx.f32",
          .relative = std::ldexp(1, -11),
          .source = "9.7.3.22 tanh: maximum relative error 2^-11"},
    Bound{.instruction = "tanh.approx.f16",
          .absolute = std::exp2(-10.987),
          .source = "9.7.4.9 tanh: maximum absolute error 2^-10.987"},
    Bound{.instruction = "tanh.approx.bf16",
          .absolute = std::ldexp(1, -8),
          .source = "9.7.4.9 tanh: maximum absolute error 2^-8"},
};

} // namespace

std::optional<Bound> bound_of(std::string_view ptx) {
  for (const Bound& bound : bounds)
    if (ptx.starts_with(bound.instruction)) return bound;
  return std::nullopt;
}

} // namespace assay::conformance
