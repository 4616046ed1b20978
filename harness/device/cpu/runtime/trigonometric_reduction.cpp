#include "harness/device/cpu/runtime/trigonometric_reduction.h"

#include <bit>

namespace assay::cpu {
namespace {

__extension__ using Wide = unsigned __int128;

// Bits of 2/pi after the binary point, most significant word first.
constexpr std::uint64_t two_over_pi[] = {0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
                                         0xfe5163abdebbc561u};

// 64 bits of 2/pi that begin `position` bits after the binary point; zeros before it.
std::uint64_t bits_from(int position) {
  if (position <= -64) return 0;
  if (position < 0) return two_over_pi[0] >> -position;
  const int word = position / 64, shift = position % 64;
  if (shift == 0) return two_over_pi[word];
  return (two_over_pi[word] << shift) | (two_over_pi[word + 1] >> (64 - shift));
}

} // namespace

std::uint64_t reduce_large(float x, double& remainder) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 150; // |x| = mantissa * 2^exponent
  const std::uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  // |x| * 2/pi modulo 4: bits of 2/pi worth 4 / mantissa and more fall out. The window begins 2^-(exponent -
  // 26) below 1.
  const int start = exponent - 26;
  const Wide high = Wide{bits_from(start)} * mantissa;     // units of 2^(exponent - start - 64)
  const Wide low = Wide{bits_from(start + 64)} * mantissa; // units 2^64 finer
  const Wide sum = high + (low >> 64);
  // The product is sum * 2^(26 - 64) = sum * 2^-38: bits 38 and 39 of sum are the quadrant.
  const std::uint64_t fraction =
      (static_cast<std::uint64_t>(sum) << 26) | (static_cast<std::uint64_t>(low) >> 38);
  std::uint64_t quadrant = static_cast<std::uint64_t>(sum >> 38) & 3;
  auto signed_fraction =
      static_cast<std::int64_t>(fraction); // of a quadrant, in units of 2^-64; above 1/2: the next one
  if (signed_fraction < 0) ++quadrant;
  remainder = static_cast<double>(signed_fraction) * 0x1p-64 * 0x1.921fb54442d18p+0;
  if (bits >> 31) {
    remainder = -remainder;
    quadrant = 0 - quadrant;
  }
  return quadrant & 3;
}

} // namespace assay::cpu
