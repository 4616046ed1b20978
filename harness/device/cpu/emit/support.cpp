#include "harness/device/cpu/emit/support.h"

#include "harness/device/cpu/emit/areas.h"
#include "harness/device/cpu/emit/call_table.h"
#include "harness/device/cpu/emit/flow.h"
#include "harness/device/cpu/emit/mma.h"
#include "harness/device/cpu/emit/narrow_float.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::cpu {
namespace {

// Applies an operation lane by lane.
template <class R, class Operation, class... Args>
void each_lane(R* r, Operation operation, const Args*... args) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) r[lane] = operation(args[lane]...);
}

Round round_of(std::uint32_t mode) { return static_cast<Round>(mode); }

// The exact integer as a float or double of the wanted rounding, one step at a time: nearest, then corrected.
template <class Float, class Integer> Float integer_to(Integer x, Round mode) {
  const auto nearest = static_cast<Float>(x);
  const auto back = static_cast<__int128>(nearest);
  const auto exact = static_cast<__int128>(x);
  if (back == exact || mode == Round::nearest_even) return nearest;
  const auto infinity = std::numeric_limits<Float>::infinity();
  const Float below = back > exact ? std::nextafter(nearest, -infinity) : nearest;
  const Float above = back > exact ? nearest : std::nextafter(nearest, infinity);
  switch (mode) {
  case Round::down:
    return below;
  case Round::up:
    return above;
  case Round::odd: {
    using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
    return (std::bit_cast<Bits>(below) & 1) != 0 ? below : above;
  }
  default:
    return exact < 0 ? above : below;
  }
}

// A NaN keeps its sign and the topmost bits of its payload, and is made quiet.
float double_to_float(double x, Round mode) {
  if (std::isnan(x)) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(bits >> 63 << 31 | 0x7fc00000 | (bits >> 29 & 0x7fffff)));
  }
  return static_cast<float>(round_with_overflow(x, format_f32, mode));
}

std::uint16_t float_to_half(float x, const Format& format, Round mode) {
  if (std::isnan(x)) return 0x7fff;
  const double value = round_with_overflow(x, format, mode);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  const int bits = format.significand_bits;
  const int bias = format.max_exponent;
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | ((2 * bias + 1) << bits));
  if (magnitude < std::ldexp(1.0, format.min_exponent)) // subnormal: a count of the smallest number
    return static_cast<std::uint16_t>(
        sign | static_cast<unsigned>(std::ldexp(magnitude, bits - format.min_exponent)));
  int exponent = 0;
  const double fraction =
      std::frexp(magnitude, &exponent) * 2 - 1; // magnitude = (1 + fraction) 2^(exponent-1)
  return static_cast<std::uint16_t>(sign | ((exponent - 1 + bias) << bits) |
                                    static_cast<int>(std::ldexp(fraction, bits)));
}

// Saturating: infinities too; NaN is 0x7f in both formats.
std::uint8_t float_to_byte(float x, const Format& format, double largest, int bias, bool relu) {
  if (std::isnan(x)) return 0x7f;
  if (relu && std::signbit(x)) return 0;
  double value = std::clamp(static_cast<double>(x), -largest, largest);
  value = std::clamp(round_to(value, format, Round::nearest_even), -largest, largest);
  const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
  const double magnitude = std::fabs(value);
  const int bits = format.significand_bits;
  if (magnitude < std::ldexp(1.0, format.min_exponent))
    return static_cast<std::uint8_t>(
        sign | static_cast<unsigned>(std::ldexp(magnitude, bits - format.min_exponent)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent) * 2 - 1;
  return static_cast<std::uint8_t>(sign | ((exponent - 1 + bias) << bits) |
                                   static_cast<int>(std::ldexp(fraction, bits)));
}

constexpr double largest_e4m3 = 448, largest_e5m2 = 57344;

// Every number of either format is a number of f16.
std::uint16_t e4m3_to_f16(std::uint8_t byte) {
  if ((byte & 0x7f) == 0x7f) return 0x7fff;
  const int exponent = byte >> 3 & 15;
  const int fraction = byte & 7;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return float_to_half(static_cast<float>((byte & 0x80) != 0 ? -magnitude : magnitude), format_f16,
                       Round::nearest_even);
}
std::uint16_t e5m2_to_f16(std::uint8_t byte) {
  const auto bits = static_cast<std::uint16_t>(byte << 8);
  return (bits & 0x7fff) > 0x7c00 ? std::uint16_t{0x7fff} : bits;
}

template <class Convert> std::uint32_t pair_of(std::uint16_t x, Convert convert) {
  return static_cast<std::uint32_t>(convert(static_cast<std::uint8_t>(x))) |
         static_cast<std::uint32_t>(convert(static_cast<std::uint8_t>(x >> 8))) << 16;
}

std::uint32_t find_nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (base > 31) return ~0u;
  if (offset == 0) return (mask >> base & 1) != 0 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  std::int64_t left = offset > 0 ? offset : -static_cast<std::int64_t>(offset);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return ~0u;
}

} // namespace

extern "C" {

void assay_div_u64(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* r) {
  each_lane(r, [](std::uint64_t x, std::uint64_t y) { return x / y; }, a, b);
}
void assay_div_s64(const std::int64_t* a, const std::int64_t* b, std::int64_t* r) {
  each_lane(
      r,
      [](std::int64_t x, std::int64_t y) {
        return y == -1 ? static_cast<std::int64_t>(std::uint64_t{0} - static_cast<std::uint64_t>(x)) : x / y;
      },
      a, b);
}
void assay_rem_u64(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* r) {
  each_lane(r, [](std::uint64_t x, std::uint64_t y) { return x % y; }, a, b);
}
void assay_rem_s64(const std::int64_t* a, const std::int64_t* b, std::int64_t* r) {
  each_lane(r, [](std::int64_t x, std::int64_t y) { return y == -1 ? 0 : x % y; }, a, b);
}
void assay_fns(const std::uint32_t* mask, const std::uint32_t* base, const std::int32_t* offset,
               std::uint32_t* r) {
  each_lane(r, find_nth_set, mask, base, offset);
}
void assay_permute(const std::uint32_t* values, const std::uint32_t* index, std::uint32_t* r) {
  each_lane(r, [values](std::uint32_t from) { return values[from % warp_lanes]; }, index);
}
void assay_match_any(std::uint32_t lanes, const std::uint64_t* values, std::uint32_t* r) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    r[lane] = 0;
    for (unsigned other = 0; other < warp_lanes; ++other)
      if ((lanes >> other & 1) != 0 && values[other] == values[lane]) r[lane] |= 1u << other;
  }
}
void assay_compare_lanes(std::uint32_t lanes, const Site* site, const std::uint64_t* a,
                         const std::uint64_t* b, std::uint32_t bits) {
  if (lanes == 0) return;
  const int lane = std::countr_zero(lanes);
  assay_compare(site, a[lane], b[lane], bits);
}

void assay_s64_to_f32(const std::int64_t* x, float* r, std::uint32_t mode) {
  each_lane(r, [mode](std::int64_t v) { return integer_to<float>(v, round_of(mode)); }, x);
}
void assay_u64_to_f32(const std::uint64_t* x, float* r, std::uint32_t mode) {
  each_lane(r, [mode](std::uint64_t v) { return integer_to<float>(v, round_of(mode)); }, x);
}
void assay_s64_to_f64(const std::int64_t* x, double* r, std::uint32_t mode) {
  each_lane(r, [mode](std::int64_t v) { return integer_to<double>(v, round_of(mode)); }, x);
}
void assay_u64_to_f64(const std::uint64_t* x, double* r, std::uint32_t mode) {
  each_lane(r, [mode](std::uint64_t v) { return integer_to<double>(v, round_of(mode)); }, x);
}
void assay_s64_to_f32_odd(const std::int64_t* x, float* r) {
  each_lane(r, [](std::int64_t v) { return integer_to<float>(v, Round::odd); }, x);
}
void assay_u64_to_f32_odd(const std::uint64_t* x, float* r) {
  each_lane(r, [](std::uint64_t v) { return integer_to<float>(v, Round::odd); }, x);
}
void assay_f64_to_f32(const double* x, float* r, std::uint32_t mode) {
  each_lane(r, [mode](double v) { return double_to_float(v, round_of(mode)); }, x);
}
void assay_f64_to_f32_odd(const double* x, float* r) {
  each_lane(r, [](double v) { return double_to_float(v, Round::odd); }, x);
}
void assay_f32_to_f16(const float* x, std::uint16_t* r, std::uint32_t mode) {
  each_lane(r, [mode](float v) { return float_to_half(v, format_f16, round_of(mode)); }, x);
}
void assay_f32_to_bf16(const float* x, std::uint16_t* r, std::uint32_t mode) {
  each_lane(r, [mode](float v) { return float_to_half(v, format_bf16, round_of(mode)); }, x);
}
void assay_f32_to_tf32(const float* x, float* r, std::uint32_t mode) {
  const auto convert = [mode](float v) {
    if (!std::isnan(v)) return static_cast<float>(round_with_overflow(v, format_tf32, round_of(mode)));
    const bool cut = round_of(mode) == Round::nearest_away; // even to an infinity
    return std::bit_cast<float>(cut ? std::bit_cast<std::uint32_t>(v) & 0xffffe000u : 0x7fffe000u);
  };
  each_lane(r, convert, x);
}
void assay_f32_to_e4m3x2(const float* high, const float* low, const std::uint32_t* relu, std::uint16_t* r) {
  const auto byte = [relu](float v) { return float_to_byte(v, format_e4m3, largest_e4m3, 7, relu[0] != 0); };
  each_lane(
      r, [byte](float h, float l) { return static_cast<std::uint16_t>(byte(h) << 8 | byte(l)); }, high, low);
}
void assay_f32_to_e5m2x2(const float* high, const float* low, const std::uint32_t* relu, std::uint16_t* r) {
  const auto byte = [relu](float v) { return float_to_byte(v, format_e5m2, largest_e5m2, 15, relu[0] != 0); };
  each_lane(
      r, [byte](float h, float l) { return static_cast<std::uint16_t>(byte(h) << 8 | byte(l)); }, high, low);
}
void assay_e4m3x2_to_f16x2(const std::uint16_t* x, std::uint32_t* r) {
  each_lane(r, [](std::uint16_t v) { return pair_of(v, e4m3_to_f16); }, x);
}
void assay_e5m2x2_to_f16x2(const std::uint16_t* x, std::uint32_t* r) {
  each_lane(r, [](std::uint16_t v) { return pair_of(v, e5m2_to_f16); }, x);
}

} // extern "C"

#define ASSAY_SYMBOL(name)                                                                                   \
  RuntimeSymbol { #name, reinterpret_cast<void*>(&name) }

std::span<const RuntimeSymbol> support_symbols() {
  static const std::array symbols{ASSAY_SYMBOL(assay_div_u64),
                                  ASSAY_SYMBOL(assay_div_s64),
                                  ASSAY_SYMBOL(assay_rem_u64),
                                  ASSAY_SYMBOL(assay_rem_s64),
                                  ASSAY_SYMBOL(assay_fns),
                                  ASSAY_SYMBOL(assay_permute),
                                  ASSAY_SYMBOL(assay_match_any),
                                  ASSAY_SYMBOL(assay_compare_lanes),
                                  ASSAY_SYMBOL(assay_s64_to_f32),
                                  ASSAY_SYMBOL(assay_u64_to_f32),
                                  ASSAY_SYMBOL(assay_s64_to_f64),
                                  ASSAY_SYMBOL(assay_u64_to_f64),
                                  ASSAY_SYMBOL(assay_s64_to_f32_odd),
                                  ASSAY_SYMBOL(assay_u64_to_f32_odd),
                                  ASSAY_SYMBOL(assay_f64_to_f32),
                                  ASSAY_SYMBOL(assay_f64_to_f32_odd),
                                  ASSAY_SYMBOL(assay_f32_to_f16),
                                  ASSAY_SYMBOL(assay_f32_to_bf16),
                                  ASSAY_SYMBOL(assay_f32_to_tf32),
                                  ASSAY_SYMBOL(assay_f32_to_e4m3x2),
                                  ASSAY_SYMBOL(assay_f32_to_e5m2x2),
                                  ASSAY_SYMBOL(assay_e4m3x2_to_f16x2),
                                  ASSAY_SYMBOL(assay_e5m2x2_to_f16x2),
                                  ASSAY_SYMBOL(assay_flow_begin),
                                  ASSAY_SYMBOL(assay_flow_wait),
                                  ASSAY_SYMBOL(assay_flow_next),
                                  ASSAY_SYMBOL(assay_flow_gather),
                                  ASSAY_SYMBOL(assay_flow_gather_last),
                                  ASSAY_SYMBOL(assay_flow_exited),
                                  ASSAY_SYMBOL(assay_flow_tick),
                                  ASSAY_SYMBOL(assay_call_pointer),
                                  ASSAY_SYMBOL(assay_area_store),
                                  ASSAY_SYMBOL(assay_area_load),
                                  ASSAY_SYMBOL(assay_matrix_product)};
  return symbols;
}

} // namespace assay::cpu
