#include "harness/numerics/formats.h"

#include "harness/base/check.h"

namespace assay {

namespace {

// To 53 bits with the last one set wherever bits were lost: rounding that to 51 bits or fewer rounds the
// whole once.
double round_to_odd(DoubleDouble x) {
  if (!dd_finite(x.high) || !(x.low < 0 || x.low > 0)) return x.high;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x.high);
  if (bits & 1) return x.high;
  return std::bit_cast<double>((x.low < 0) == (x.high < 0) ? bits | 1 : bits - 1);
}

double round_to_integer(double x, double lowest, double highest) {
  if (x != x) return 0;
  const double rounded = std::nearbyint(x);
  return rounded < lowest ? lowest : rounded > highest ? highest : rounded;
}

std::uint64_t quiet_nan(DType type) {
  switch (type) {
  case DType::f64:
    return 0x7ff8000000000000;
  case DType::f32:
    return 0x7fc00000;
  case DType::f16:
    return 0x7e00;
  case DType::bf16:
    return 0x7fc0;
  case DType::f8e5m2:
    return 0x7e;
  default:
    return 0x7f;
  }
}

// x is a value of the format.
std::uint64_t encode(DType type, const Format& format, double x) {
  if (x != x) return quiet_nan(type);
  const int fraction_bits = format.precision - 1;
  const std::uint64_t sign = std::uint64_t{std::signbit(x)} << (8 * size_of(type) - 1);
  const double magnitude = std::fabs(x);
  if (magnitude < format.min_normal)
    return sign | static_cast<std::uint64_t>(magnitude / format.min_subnormal);
  if (magnitude > format.largest)
    return sign | static_cast<std::uint64_t>(2 * format.max_exponent + 1) << fraction_bits;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(magnitude);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  const std::uint64_t fraction = (bits & ((std::uint64_t{1} << 52) - 1)) >> (52 - fraction_bits);
  return sign | static_cast<std::uint64_t>(exponent - format.min_exponent + 1) << fraction_bits | fraction;
}

double decode(DType type, const Format& format, std::uint64_t bits) {
  const int fraction_bits = format.precision - 1;
  const int width = static_cast<int>(8 * size_of(type));
  const double sign = bits >> (width - 1) & 1 ? -1.0 : 1.0;
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (width - 1)) - 1);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << fraction_bits) - 1);
  const int field = static_cast<int>(magnitude >> fraction_bits);
  const bool ieee = format.overflow == Overflow::to_infinity;
  if (!ieee && magnitude == 0x7f) return std::numeric_limits<double>::quiet_NaN();
  if (ieee && field == 2 * format.max_exponent + 1)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (field == 0) return sign * static_cast<double>(fraction) * format.min_subnormal;
  const double significand = 1 + static_cast<double>(fraction) * Format::power_of_two(-fraction_bits);
  return sign * significand * Format::power_of_two(field - 1 + format.min_exponent);
}

} // namespace

const Format& format_of(DType type) {
  static constexpr Format f64 = format_constant<DType::f64>(), f32 = format_constant<DType::f32>(),
                          f16 = format_constant<DType::f16>(), bf16 = format_constant<DType::bf16>(),
                          f8e4m3 = format_constant<DType::f8e4m3>(),
                          f8e5m2 = format_constant<DType::f8e5m2>();
  switch (type) {
  case DType::f64:
    return f64;
  case DType::f32:
    return f32;
  case DType::f16:
    return f16;
  case DType::bf16:
    return bf16;
  case DType::f8e4m3:
    return f8e4m3;
  case DType::f8e5m2:
    return f8e5m2;
  default:
    break;
  }
  ASSAY_CHECK(false, "{} is no floating type", name_of(type));
}

double round_value(DType type, double x) {
  switch (type) {
  case DType::i64:
    return round_to_integer(x, -0x1p63, 0x1p63);
  case DType::i32:
    return round_to_integer(x, -0x1p31, 0x1p31 - 1);
  case DType::i8:
    return round_to_integer(x, -128, 127);
  case DType::u8:
    return round_to_integer(x, 0, 255);
  default:
    return round_to(format_of(type), x);
  }
}

double round_value(DType type, DoubleDouble x) {
  return type == DType::f64 ? x.high : round_value(type, round_to_odd(x));
}

double round_unbounded(const Format& format, double x) {
  if (!dd_finite(x)) return x;
  const int shift = 53 - format.precision;
  if (shift == 0) return x;
  int exponent = 0;
  const double significand = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, format.precision)), exponent - format.precision);
}

std::uint64_t to_bits(DType type, double x) {
  const double value = round_value(type, x);
  if (type == DType::f64) return x != x ? quiet_nan(type) : std::bit_cast<std::uint64_t>(x);
  if (is_float(type)) return encode(type, format_of(type), value);
  if (type == DType::i64 && value == 0x1p63) return 0x7fffffffffffffff;
  const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return type == DType::i64 ? bits : bits & ((std::uint64_t{1} << 8 * size_of(type)) - 1);
}

std::uint64_t to_bits(DType type, DoubleDouble x) {
  return to_bits(type, type == DType::f64 ? x.high : round_to_odd(x));
}

double from_bits(DType type, std::uint64_t bits) {
  switch (type) {
  case DType::f64:
    return std::bit_cast<double>(bits);
  case DType::f32:
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  case DType::i64:
    return static_cast<double>(static_cast<std::int64_t>(bits));
  case DType::i32:
    return static_cast<std::int32_t>(bits);
  case DType::i8:
    return static_cast<std::int8_t>(bits);
  case DType::u8:
    return static_cast<std::uint8_t>(bits);
  default:
    return decode(type, format_of(type), bits);
  }
}

bool is_representable(DType type, double x) { return x != x || round_value(type, x) == x; }

} // namespace assay
