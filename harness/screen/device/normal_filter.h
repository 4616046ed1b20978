// Normal numbers in 16 bits without double arithmetic, nearly always: a floating-point filter (Shewchuk,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", 1997). A variate in
// float has a bound of its error; where both ends of the range that it leaves are rounded to one number, that
// is the one.
#pragma once

#include "harness/screen/device/fill_element.h"

namespace assay::fill {

// The word's place from the nearer end of all words: the tail's probability is about 2^-32 times that.
__device__ inline std::uint32_t tail_of(std::uint32_t word) { return word < 0x80000000u ? word : ~word; }

// Whether the tail is at least 2^-14: of all words but one in 8192.
__device__ inline bool has_quick_normal(std::uint32_t word) { return tail_of(word) >= 1u << 18; }
__device__ inline bool have_quick_normals(const PhiloxBlock& words) {
  return has_quick_normal(words.word[0]) && has_quick_normal(words.word[1]) &&
         has_quick_normal(words.word[2]) && has_quick_normal(words.word[3]);
}

// element::normal where has_quick_normal, with a relative error below 2^-20.8 if the logarithm is as bad as
// PTX allows (2^-21.1 at most over all words on an H200). It is x f(log2(4u (1 - u))), where u = unit(word)
// and x = 2u - 1; f was fitted to PPND7 and leaves ripples of 2^-22.7.
__device__ inline float quick_normal(std::uint32_t word) {
  const auto centred = static_cast<float>(static_cast<std::int32_t>(word ^ 0x80000000u));
  const auto tail = static_cast<float>(static_cast<std::int32_t>(tail_of(word)));
  const float x = __fmaf_rn(centred, 0x1p-31f, 0x1p-32f);
  const float nearer = __fmaf_rn(tail, 0x1p-31f, 0x1p-32f);      // 2 min(u, 1 - u)
  const float product = __fmaf_rn(nearer, std::fabs(x), nearer); // 4u (1 - u)
  float log;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(product));
  constexpr float f[] = {1.25331402f,      -0.227436349f,    0.0078375442f,   0.00108807022f,
                         -4.83424228e-05f, -1.22241427e-05f, 2.70383794e-07f, 1.92968272e-07f,
                         1.82551272e-08f,  7.66866903e-10f,  1.27043393e-11f};
  float sum = f[10];
#pragma unroll
  for (int i = 9; i >= 0; --i) sum = __fmaf_rn(sum, log, f[i]);
  return x * sum;
}

// Elements that are offset + scale * the normal variate of their word.
struct Scaling {
  double offset, scale;
};
__device__ inline Scaling scaling_of(const FillDistribution& distribution) {
  if (is_sorted(distribution.kind)) return {0, distribution.p[0]};
  return {distribution.p[0], distribution.p[1]};
}

// Whether a distribution's elements in the tensor are such, of 16 bits, neither mapped nor clamped, and far
// from the ends of a float's range.
__device__ inline bool has_filter(const FillDistribution& distribution, const FillTensor& tensor) {
  using Kind = DistributionKind;
  const Kind kind = distribution.kind;
  const Narrowing way = narrowing_of(tensor.storage);
  if (kind != Kind::normal && kind != Kind::near_constant && kind != Kind::large_offset && !is_sorted(kind))
    return false;
  if ((way != Narrowing::f16 && way != Narrowing::bf16) || is_mapped(kind, tensor.domain.kind)) return false;
  const auto [offset, scale] = scaling_of(distribution);
  return std::fabs(scale) >= 0x1p-80 && std::fabs(offset) + 8 * std::fabs(scale) <= tensor.storage.largest;
}

// Two floats rounded to 16 bits, the first in the lower half.
template <Narrowing way> __device__ inline std::uint32_t narrowed_pair(float first, float second) {
  std::uint32_t pair;
  if constexpr (way == Narrowing::f16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// The two ends of what four elements may be, rounded to 16 bits; two elements a word.
struct RoundedRanges {
  std::uint32_t low[2], high[2];

  __device__ bool all_agree() const { return low[0] == high[0] && low[1] == high[1]; }
  __device__ bool agree(int k) const {
    return static_cast<std::uint16_t>(bits(k) ^ high[k / 2] >> shift(k)) == 0;
  }
  // Where they agree; what is above 16 bits means nothing.
  __device__ std::uint32_t bits(int k) const { return low[k / 2] >> shift(k); }

 private:
  __device__ static int shift(int k) { return 16 * (k % 2); }
};

// Of words that have quick normals.
template <Narrowing way>
__device__ inline RoundedRanges ranges_of(const Scaling& scaling, const PhiloxBlock& words) {
  const auto offset = static_cast<float>(scaling.offset), scale = static_cast<float>(scaling.scale);
  // With the roundings of scale, of the element and of the ends; that of the offset is on its own.
  const float error = std::fabs(scale) * 0x1.8p-21f, offset_error = std::fabs(offset) * 0x1p-22f;
  float low[4], high[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float z = quick_normal(words.word[k]), element = __fmaf_rn(scale, z, offset);
    const float distance = __fmaf_rn(error, std::fabs(z), offset_error);
    low[k] = element - distance;
    high[k] = element + distance;
  }
  return {{narrowed_pair<way>(low[0], low[1]), narrowed_pair<way>(low[2], low[3])},
          {narrowed_pair<way>(high[0], high[1]), narrowed_pair<way>(high[2], high[3])}};
}

} // namespace assay::fill
