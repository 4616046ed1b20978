#include "tests/conformance/difference.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay::conformance {
namespace {

struct Shape {
  int fraction, min_exponent;
};

Shape shape_of(const std::string& format) {
  if (format == "f64") return {52, -1022};
  if (format == "f16") return {10, -14};
  if (format == "bf16") return {7, -126};
  return {23, -126};
}

double value_of(const std::string& format, std::uint64_t bits) {
  if (format == "f64") return std::bit_cast<double>(bits);
  if (format == "bf16")
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
  if (format == "f16") return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

double ulp_at(double x, const Shape& shape) {
  const int exponent = x == 0 ? shape.min_exponent : std::max(std::ilogb(x), shape.min_exponent);
  return std::ldexp(1.0, exponent - shape.fraction);
}

} // namespace

std::string format_of(const std::string& ptx, const std::string& type) {
  for (const char* format : {"bf16x2", "bf16", "f16x2", "f16", "f32", "f64"})
    if (ptx.find(std::string(".") + format + " ") != std::string::npos) return format;
  return type;
}

Difference difference(const std::string& format, std::uint64_t got, std::uint64_t wanted,
                      std::uint64_t operand, const Bound& bound) {
  if (format.ends_with("x2")) {
    const std::string half = format.substr(0, format.size() - 2);
    const Difference low = difference(half, got & 0xffff, wanted & 0xffff, operand & 0xffff, bound);
    const Difference high = difference(half, got >> 16, wanted >> 16, operand >> 16, bound);
    return {std::max(low.ulps, high.ulps), std::max(low.absolute, high.absolute),
            std::max(low.relative, high.relative), low.allowed && high.allowed};
  }
  if (got == wanted) return {};
  const double a = value_of(format, got), b = value_of(format, wanted);
  if (!std::isfinite(a) || !std::isfinite(b) || a == b) return {INFINITY, INFINITY, INFINITY, false};
  const double ulp = ulp_at(a, shape_of(format));
  Difference d;
  d.absolute = std::fabs(a - b);
  d.ulps = d.absolute / ulp;
  d.relative = a != 0 ? d.absolute / std::fabs(a) : INFINITY;
  const double magnitude = std::fabs(value_of(format, operand));
  const bool near = bound.within == 0 || magnitude <= bound.within;
  d.bounded = near || magnitude <= bound.far_within;
  if (!d.bounded) return d;
  const double allowed =
      near ? std::max({bound.ulps * ulp, bound.relative * std::fabs(a), bound.absolute}) : bound.far_absolute;
  const bool subnormal =
      std::fabs(a) < std::ldexp(1.0, shape_of(format).min_exponent); // both sides round there
  d.allowed = d.absolute <= allowed + (subnormal ? 1.001 : 0.501) * ulp;
  return d;
}

} // namespace assay::conformance
