// The functions a formula may use, and how far CUDA's own may be off. Sources, of CUDA 13:
//   CUDA Programming Guide 5.5.7, "C Math API Mapping and Accuracy (Maximum ULP)": tables 47 (exp, expm1,
//   log, log1p), 48 (sqrt), 50 (tanh), 51 (erf, erfc), and 5.5.8 (rsqrt: 2 ULP in float, 1 in double); an ULP
//   error there is the distance from the correctly rounded result; for a function among `fast`, what
//   -use_fast_math turns them into: 5.5.9.2, "Single-Precision-Only Intrinsic Functions"
//   (__expf, __logf), and PTX ISA 9.1, sections 9.7.3.8 (div.full), 9.7.3.15 (sqrt.approx), 9.7.3.16
//   (rsqrt.approx), 9.7.3.22 (tanh.approx).
#pragma once

#include <cmath>
#include <concepts>

namespace assay {

enum class Function { exp, expm1, log, log1p, sqrt, rsqrt, tanh, erf, erfc };

// A set of functions that a kernel takes in their fast, less accurate form: 1 << Function, and division.
using Approximations = unsigned;
inline constexpr Approximations approximate_division = 1u << 31;
inline constexpr Approximations all_approximate = ~0u;
constexpr Approximations approximate_bit(Function function) { return 1u << static_cast<unsigned>(function); }

// In Real's own arithmetic, as an eager program computes it (rsqrt: a square
// root and a division).
template <Function function, std::floating_point Real> Real evaluate(Real x) {
  if constexpr (function == Function::exp) return std::exp(x);
  if constexpr (function == Function::expm1) return std::expm1(x);
  if constexpr (function == Function::log) return std::log(x);
  if constexpr (function == Function::log1p) return std::log1p(x);
  if constexpr (function == Function::sqrt) return std::sqrt(x);
  if constexpr (function == Function::rsqrt) return Real(1) / std::sqrt(x);
  if constexpr (function == Function::tanh) return std::tanh(x);
  if constexpr (function == Function::erf) return std::erf(x);
  if constexpr (function == Function::erfc) return std::erfc(x);
}

// exp(0) = 1 and its like: no implementation is off there.
template <Function function> bool is_exact_at(double x) {
  if constexpr (function == Function::log) return x == 1;
  if constexpr (function == Function::rsqrt) return false;
  return x == 0;
}

// The spacing of Real at |y|.
template <std::floating_point Real> double spacing(double y) {
  constexpr int digits = std::is_same_v<Real, float> ? 24 : 53;
  constexpr int min_exponent = std::is_same_v<Real, float> ? -126 : -1022;
  const int exponent = y == 0 ? min_exponent : std::ilogb(y);
  return std::ldexp(1.0, (exponent < min_exponent ? min_exponent : exponent) - digits + 1);
}

// The largest documented distance of f(x) = y from the correctly rounded
// result, absolute.
template <Function function, std::floating_point Real>
double documented_error(double x, double y, Approximations fast) {
  const double ulp = spacing<Real>(y);
  if constexpr (std::is_same_v<Real, double>) { // -use_fast_math leaves double
                                                // precision alone
    if constexpr (function == Function::sqrt) return 0;
    if constexpr (function == Function::erf) return 2 * ulp;
    if constexpr (function == Function::erfc) return 5 * ulp;
    return 1 * ulp;
  } else {
    if ((fast & approximate_bit(function)) != 0) {
      if constexpr (function == Function::exp) return (2 + std::floor(std::fabs(1.173 * x))) * ulp; // __expf
      if constexpr (function == Function::log)                                                      // __logf
        return x >= 0.5 && x <= 2 ? 0x1.82p-22 : 3 * ulp;                                // 2^-21.41
      if constexpr (function == Function::sqrt) return 0x1p-23 * std::fabs(y) + ulp / 2; // sqrt.approx
      if constexpr (function == Function::rsqrt)
        return 0x1.13p-23 * std::fabs(y) + ulp / 2; // 2^-22.9, rsqrt.approx
      if constexpr (function == Function::tanh) return 0x1p-11 * std::fabs(y) + ulp / 2; // tanh.approx
    }
    if constexpr (function == Function::exp) return 2 * ulp;
    if constexpr (function == Function::expm1) return 1 * ulp;
    if constexpr (function == Function::log) return 1 * ulp;
    if constexpr (function == Function::log1p) return 1 * ulp;
    if constexpr (function == Function::sqrt) return 0;
    if constexpr (function == Function::rsqrt) return 2 * ulp;
    if constexpr (function == Function::tanh) return 2 * ulp;
    if constexpr (function == Function::erf) return 2 * ulp;
    if constexpr (function == Function::erfc) return 4 * ulp;
  }
}

// a / b: correctly rounded, or div.full.f32 (2 ULP) under -use_fast_math and
// -prec-div=false.
template <std::floating_point Real> double documented_division_error(double quotient, Approximations fast) {
  return std::is_same_v<Real, float> && (fast & approximate_division) != 0 ? 2 * spacing<Real>(quotient) : 0;
}

// Division by div.approx.f32 (__fdividef, and / under -use_fast_math) is documented to be 0 here.
template <std::floating_point Real> bool approximate_quotient_is_zero(Real b, Approximations fast) {
  return std::is_same_v<Real, float> && (fast & approximate_division) != 0 && std::fabs(b) > Real(0x1p126) &&
         std::isfinite(b);
}

} // namespace assay
