// One element of an input, from what the host says of it, on the GPU: the same bits as inputs/fill.h.
#pragma once

#include "harness/screen/device/half_bits.h"
#include "harness/screen/fill_layout.h"

namespace assay::fill {

__device__ inline bool is_sorted(DistributionKind kind) {
  return kind == DistributionKind::sorted_ascending || kind == DistributionKind::sorted_descending;
}

// The distribution that a line is drawn from: patches win over the base, later ones over earlier ones.
__device__ inline const FillDistribution& of_line(const FillInput& input, std::int64_t line) {
  const FillDistribution* chosen = &input.base;
  for (int i = 0; i < input.patches; ++i) {
    const FillPatch& patch = input.patch[i];
    const std::int64_t beyond = line - patch.first;
    if (beyond < 0) continue;
    const auto lines = static_cast<std::uint32_t>(beyond); // a tensor has fewer than 2^31
    const auto step = static_cast<std::uint32_t>(patch.step < 0x7fffffff ? patch.step : 0x7fffffff);
    if (lines % step == 0 && lines / step < patch.count) chosen = &patch.distribution;
  }
  return *chosen;
}

__device__ inline ElementContext context_of(const FillTensor& tensor, std::uint64_t seed) {
  ElementContext context;
  context.seed = seed;
  context.line_length = tensor.line_length;
  const StorageRule& type = tensor.storage;
  if (type.floating) {
    context.precision = type.precision;
    context.largest = type.largest;
    context.min_normal = type.min_normal;
    context.min_subnormal = type.min_subnormal;
  } else { // as inputs/fill.cpp does: a double that its domain narrows
    context.precision = 53;
    context.largest = 0x1.fffffffffffffp1023;
    context.min_normal = 0x1p-1022;
    context.min_subnormal = 0x1p-1074;
  }
  const auto bits = __builtin_bit_cast(std::uint64_t, context.largest);
  context.top_spacing = element::power_of_two(static_cast<int>(bits >> 52) - 1023 - context.precision + 1);
  return context;
}

// Whether raw_value reads the normal variate of the element's own word.
__device__ inline bool draws_normal(DistributionKind kind) {
  return uses_normal(kind) || is_sorted(kind) || kind == DistributionKind::cancelling_pairs;
}

// Before the domain and the storage type; lines of sorted kinds are not sorted yet, and cancelling_sum is not
// made here. word is the element's own, z its normal variate where the kind draws one.
__device__ inline double raw_value(const FillDistribution& distribution, const FillTensor& tensor,
                                   ElementContext& context, const ElementPlace& at, std::uint32_t word,
                                   double z) {
  using Kind = DistributionKind;
  for (int i = 0; i < 3; ++i) context.p[i] = distribution.p[i];
  switch (distribution.kind) {
#define ASSAY_ELEMENT(kind)                                                                                  \
  case Kind::kind:                                                                                           \
    return element_of<Kind::kind>(context, at, word, z);
    ASSAY_ELEMENT(zero)
    ASSAY_ELEMENT(constant)
    ASSAY_ELEMENT(equal)
    ASSAY_ELEMENT(alternating)
    ASSAY_ELEMENT(one_hot)
    ASSAY_ELEMENT(ramp)
    ASSAY_ELEMENT(index_coded)
    ASSAY_ELEMENT(powers_of_two)
    ASSAY_ELEMENT(signed_zeros)
    ASSAY_ELEMENT(all_positive)
    ASSAY_ELEMENT(all_negative)
    ASSAY_ELEMENT(uniform)
    ASSAY_ELEMENT(normal)
    ASSAY_ELEMENT(sparse)
    ASSAY_ELEMENT(near_constant)
    ASSAY_ELEMENT(large_offset)
    ASSAY_ELEMENT(one_outlier)
    ASSAY_ELEMENT(swamping)
    ASSAY_ELEMENT(wide)
    ASSAY_ELEMENT(extreme_logits)
    ASSAY_ELEMENT(half_integers)
    ASSAY_ELEMENT(ties)
    ASSAY_ELEMENT(beside_ties)
    ASSAY_ELEMENT(subnormal)
    ASSAY_ELEMENT(largest)
    ASSAY_ELEMENT(specials)
#undef ASSAY_ELEMENT
  case Kind::sorted_ascending:
  case Kind::sorted_descending:
    return context.p[0] * z;
  case Kind::cancelling_pairs:
    if ((at.place & 1) == 0) return context.p[0] * z;
    return -(context.p[0] * element::normal(element_word(context.seed, at.index - 1)));
  case Kind::legal:
    return legal_element(tensor.domain, context, at);
  case Kind::rotary:
  case Kind::rotary_split:
    return rotary_element(distribution.kind == Kind::rotary_split, context, at);
  default:
    return 0;
  }
}

// storage_bits, by the GPU's own conversions where it has them.
__device__ inline std::uint64_t narrowed(const StorageRule& type, double x) {
  if (!type.floating || type.bytes == 1 || type.bytes == 8 || x != x) return storage_bits(type, x);
  if (type.bytes == 4) return __float_as_uint(__double2float_rn(x));
  const float odd = screen::rounded_to_odd(x);
  return type.precision == 11 ? screen::f16_bits(odd) : screen::bf16_bits(odd);
}

// In the storage type.
__device__ inline std::uint64_t stored(DistributionKind kind, const FillTensor& tensor, double value) {
  const StorageRule& type = tensor.storage;
  if (kind != DistributionKind::legal || tensor.domain.kind == DomainKind::scale)
    value = map_into_domain(tensor.domain, type.min_normal, value);
  if (type.floating && kind != DistributionKind::specials)
    value = value < -type.largest ? -type.largest : type.largest < value ? type.largest : value;
  return narrowed(type, value);
}

// Where an element lies, in bytes from the slot's start.
__device__ inline std::uint64_t place_of(const FillTensor& tensor, std::int64_t index) {
  std::int64_t elements = index;
  if (!tensor.dense) {
    elements = 0;
    auto rest = static_cast<std::uint32_t>(index);
    for (int d = tensor.rank - 1; d >= 0; --d) {
      const auto size = static_cast<std::uint32_t>(tensor.shape[d]);
      elements += static_cast<std::int64_t>(rest % size) * tensor.strides[d];
      rest /= size;
    }
  }
  return tensor.offset + static_cast<std::uint64_t>(elements * tensor.storage.bytes);
}

__device__ inline void put(unsigned char* at, int bytes, std::uint64_t bits) {
  switch (bytes) {
  case 1:
    *at = static_cast<unsigned char>(bits);
    return;
  case 2:
    *reinterpret_cast<std::uint16_t*>(at) = static_cast<std::uint16_t>(bits);
    return;
  case 4:
    *reinterpret_cast<std::uint32_t*>(at) = static_cast<std::uint32_t>(bits);
    return;
  default:
    *reinterpret_cast<std::uint64_t*>(at) = bits;
  }
}
__device__ inline std::uint64_t get(const unsigned char* at, int bytes) {
  switch (bytes) {
  case 1:
    return *at;
  case 2:
    return *reinterpret_cast<const std::uint16_t*>(at);
  case 4:
    return *reinterpret_cast<const std::uint32_t*>(at);
  default:
    return *reinterpret_cast<const std::uint64_t*>(at);
  }
}

} // namespace assay::fill
