// One element of a tested output as the golden stores it: beside what the reference and the target stored
// (method: sections 2, 3 and 6; numerics/errors.cpp, ulp.cpp and bias.cpp are the host's judges of the same).
#pragma once

#include "harness/screen/device/bits.h"
#include "harness/screen/device/errors.h"
#include "harness/screen/device/lean_golden.h"
#include "harness/screen/device/workspace.h"

namespace assay::screen {

// The reference is held in the output's type; 8-bit floats as float.
template <DType type> inline constexpr int reference_bytes = bytes_of<type>() == 1 ? 4 : bytes_of<type>();
template <DType type, class Real> __forceinline__ void put_reference(unsigned char* place, Real value) {
  if constexpr (bytes_of<type>() == 1)
    *reinterpret_cast<float*>(place) = static_cast<float>(rounded_to<type>(value));
  else if constexpr (bytes_of<type>() == 2)
    *reinterpret_cast<std::uint16_t*>(place) = half_bits<type>(value);
  else if constexpr (type == DType::f32)
    *reinterpret_cast<float*>(place) = static_cast<float>(value);
  else
    *reinterpret_cast<double*>(place) = value;
}
// As what was put would be read.
template <DType type, class Real> __forceinline__ double stored_reference(Real value) {
  if constexpr (bytes_of<type>() == 2) return from_half_bits<type>(half_bits<type>(value));
  return rounded_to<type>(static_cast<double>(value));
}
template <DType type> __forceinline__ double reference_at(const unsigned char* place) {
  if constexpr (bytes_of<type>() == 1) return *reinterpret_cast<const float*>(place);
  return value_at<type, false>(place);
}

inline bool same_value(double a, double b) { return a == b || (a != a && b != b); }

// Whether the element is right although one of g, G, r, t is not finite: all must agree.
template <DType type>
std::uint32_t reason_of_special(double g, double magnitude, double rounded, double r, double t) {
  if (!(magnitude <= greatest)) return overflow;
  if (g <= greatest && g >= -greatest && rounded <= greatest && rounded >= -greatest) return misplaced;
  return same_value(t, rounded) && same_value(r, rounded) ? 0 : misplaced;
}

template <DType type> constexpr bool bias_is_judged() {
  return type == DType::f16 || type == DType::bf16 || type == DType::f8e4m3 || type == DType::f8e5m2;
}

// Joins the element to its line and its output; returns why it is not plainly right. A golden that is not
// careful leaves what is not finite to the maxima.
//   unit  of v.m: what the golden may be off by
template <DType type, bool judges_ulps, class Golden>
__forceinline__ std::uint32_t join_element(const TensorSlot& slot, const View& view, double unit,
                                           const Golden& v, double r, double t, Maxima& line,
                                           OutputErrors& output) {
  constexpr Format format = format_constant<type>();
  double g = high_of(v.v);
  if constexpr (format.overflow == Overflow::saturate)
    g = std::fabs(g) > format.largest ? std::copysign(format.largest, g) : g;
  const double low = low_of(v.v), size = std::fabs(g);
  if constexpr (Golden::is_careful) {
    const double stored = type == DType::f64 ? rounded_to<type>(v.v) : rounded_to<type>(g);
    const std::uint32_t top =
        std::max(std::max(magnitude_word(g), magnitude_word(v.m)),
                 std::max(magnitude_word(stored), std::max(magnitude_word(r), magnitude_word(t))));
    if (top >= infinite_word) return reason_of_special<type>(g, v.m, stored, r, t);
  }

  const double spacing = spacing_at<type>(g), bound = unit * v.m;
  const double rounded = type == DType::f64 ? rounded_to<type>(v.v) : rounded_to_multiple(g, spacing);
  const double rounding = rounded - g - low;
  raise_by<Golden::wide>(line.target, t - g - low);
  raise_by<Golden::wide>(line.reference, r - g - low);
  raise_by<Golden::wide>(line.rounding, rounding);
  raise_by<Golden::wide>(line.magnitude, v.magnitude());
  raise_by<Golden::wide>(line.magnitude, g);
  raise_by<Golden::wide>(output.scale, g);
  line.differs |= t != r;

  std::uint32_t reasons = 0;
  if (judges_ulps && t != r) { // with r there is nothing to accuse
    const std::int64_t rank = rank_of<type>(rounded);
    std::int64_t distance = rank_of<type>(t) - rank, legal = rank_of<type>(r) - rank;
    distance = distance < 0 ? -distance : distance;
    legal = legal < 0 ? -legal : legal;
    // So near the middle of two neighbours that the truth may round to the other one.
    const bool open = bound != 0 && std::fabs(std::fabs(rounding) - 0.5 * spacing) <= bound;
    distance += open, legal -= open && legal > 0;
    if (static_cast<double>(distance) > slot.ulp_limit && distance > 2 * legal) {
      const std::uint32_t seen = distance < 0xffffffff ? static_cast<std::uint32_t>(distance) : 0xffffffff;
      raise(output.ulps, seen);
      if (!(std::fabs(t - g - low) <= slot.flush_floor)) reasons |= ulp_close;
    }
  }
  const bool in_range = !Golden::is_careful || size <= format.largest; // else Findings::is_unclear
  if (bias_is_judged<type>() && in_range) {
    // 1 / spacing, a power of 2, with g's sign.
    const int sign = __double2hiint(g) & static_cast<int>(0x80000000);
    const double away = __hiloint2double((0x7fe00000 - __double2hiint(spacing)) | sign, 0);
    const float off = static_cast<float>((t - g) * away), legal = static_cast<float>((r - g) * away);
    if (std::fabs(rounding) > bound && magnitude_word(g) >= view.biased_from) {
      output.rounded += 1;
      output.target_bias += off;
      output.reference_bias += legal;
    } else if (rounding != 0) {
      output.unclear += 1;
      output.unclear_target += std::fabs(off);
      output.unclear_difference += std::fabs(off - legal);
    }
  }
  return reasons;
}

} // namespace assay::screen
