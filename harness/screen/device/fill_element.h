// One element of an input, from what the host says of it, on the GPU: the same bits as inputs/fill.h.
#pragma once

#include "harness/screen/device/half_bits.h"
#include "harness/screen/fill_layout.h"

namespace assay::fill {

__device__ inline bool is_sorted(DistributionKind kind) {
  return kind == DistributionKind::sorted_ascending || kind == DistributionKind::sorted_descending;
}

// Which distribution a line is drawn from: 0 is the base, 1 the first patch; later ones win over earlier
// ones.
__device__ inline int number_of_line(const FillInput& input, std::int64_t line) {
  int chosen = 0;
#pragma unroll 1
  for (int i = 0; i < input.patches; ++i) {
    const FillPatch& patch = input.patch[i];
    const std::int64_t beyond = line - patch.first;
    if (beyond < 0) continue;
    const auto lines = static_cast<std::uint32_t>(beyond); // a tensor has fewer than 2^31
    const auto step = static_cast<std::uint32_t>(patch.step < 0x7fffffff ? patch.step : 0x7fffffff);
    if (lines % step == 0 && lines / step < patch.count) chosen = i + 1;
  }
  return chosen;
}
__device__ inline const FillDistribution& distribution_of(const FillInput& input, int number) {
  return number == 0 ? input.base : input.patch[number - 1].distribution;
}
__device__ inline const FillDistribution& of_line(const FillInput& input, std::int64_t line) {
  return distribution_of(input, number_of_line(input, line));
}

// Whether `is` holds for any kind that fills the input.
template <class Is> __device__ inline bool any_kind(const FillInput& input, Is&& is) {
  bool any = is(input.base.kind);
#pragma unroll 1
  for (int i = 0; i < input.patches; ++i) any = any || is(input.patch[i].distribution.kind);
  return any;
}

__device__ inline ElementContext context_of(const FillDistribution& distribution, const FillTensor& tensor,
                                            std::uint64_t seed) {
  ElementContext context;
  for (int i = 0; i < 3; ++i) context.p[i] = distribution.p[i];
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

// Whether raw_values reads the normal variate of the element's own word, and whether it reads that word.
__device__ inline bool draws_normal(DistributionKind kind) {
  return uses_normal(kind) || is_sorted(kind) || kind == DistributionKind::cancelling_pairs;
}
__device__ inline bool draws_word(DistributionKind kind) { return uses_word(kind) || draws_normal(kind); }

// Four elements, eight apart, that one block of random words serves.
struct Quad {
  std::uint64_t seed = 0;
  std::uint32_t block = 0, line_length = 1;
  PhiloxBlock words = {};
  double z[4] = {}; // the words' normal variates, where a kind draws them

  __device__ std::uint32_t index(int k) const { return (block >> 3 << 5) + (block & 7) + 8 * k; }
  __device__ std::uint32_t line(int k) const { return index(k) / line_length; }
  __device__ ElementPlace at(int k) const { return {index(k), line(k), index(k) - line(k) * line_length}; }
};

// Of one distribution, before the domain and the storage type; lines of sorted kinds are not sorted yet, and
// cancelling_sum is not made here.
__device__ inline void raw_values(const FillDistribution& distribution, const FillTensor& tensor,
                                  const Quad& quad, double (&value)[4]) {
  using Kind = DistributionKind;
  // What an element needs of the context is only known in each case.
  const auto each = [&](auto&& element) {
    const ElementContext context = context_of(distribution, tensor, quad.seed);
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = element(context, k);
  };
  // Of long functions one copy is enough.
  const auto each_in_turn = [&](auto&& element) {
    const ElementContext context = context_of(distribution, tensor, quad.seed);
#pragma unroll 1
    for (int k = 0; k < 4; ++k) {
      const double next = element(context, quad.at(k));
      value[0] = value[1], value[1] = value[2], value[2] = value[3], value[3] = next;
    }
  };
  switch (distribution.kind) {
#define ASSAY_ELEMENT(kind)                                                                                  \
  case Kind::kind:                                                                                           \
    return each([&](const ElementContext& context, int k) {                                                  \
      return element_of<Kind::kind>(context, quad.at(k), quad.words.word[k], quad.z[k]);                     \
    });
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
    return each([&](const ElementContext& context, int k) { return context.p[0] * quad.z[k]; });
  case Kind::cancelling_pairs:
    return each([&](const ElementContext& context, int k) {
      const ElementPlace at = quad.at(k);
      if ((at.place & 1) == 0) return context.p[0] * quad.z[k];
      return -(context.p[0] * element::normal(element_word(context.seed, at.index - 1)));
    });
  case Kind::legal:
    return each_in_turn([&](const ElementContext& context, const ElementPlace& at) {
      return legal_element(tensor.domain, context, at);
    });
  case Kind::rotary:
  case Kind::rotary_split:
    return each_in_turn([&](const ElementContext& context, const ElementPlace& at) {
      return rotary_element(distribution.kind == Kind::rotary_split, context, at);
    });
  default:
    return each([](const ElementContext&, int) { return 0.0; });
  }
}

// How numbers become a storage type: the GPU has conversions of its own, which are those of storage_bits.
enum class Narrowing : std::uint8_t { f32, f16, bf16, other };
__device__ inline Narrowing narrowing_of(const StorageRule& type) {
  if (!type.floating || type.bytes == 1 || type.bytes == 8) return Narrowing::other;
  return type.bytes == 4 ? Narrowing::f32 : type.precision == 11 ? Narrowing::f16 : Narrowing::bf16;
}
template <Narrowing way> __device__ inline auto narrowed(const StorageRule& type, double x) {
  if constexpr (way == Narrowing::other) {
    return storage_bits(type, x);
  } else if constexpr (way == Narrowing::f32) {
    return x == x ? __float_as_uint(__double2float_rn(x)) : static_cast<std::uint32_t>(type.quiet_nan);
  } else {
    const float odd = screen::rounded_to_odd(x);
    const std::uint16_t bits = way == Narrowing::f16 ? screen::f16_bits(odd) : screen::bf16_bits(odd);
    return x == x ? bits : static_cast<std::uint16_t>(type.quiet_nan);
  }
}

// The largest magnitude that a kind's numbers may have in the type.
__device__ inline double limit_of(DistributionKind kind, const StorageRule& type) {
  return type.floating && kind != DistributionKind::specials ? type.largest
                                                             : element::from_double_bits(0x7ff0000000000000);
}
__device__ inline double clamped(double value, double limit) {
  return std::fabs(value) > limit ? std::copysign(limit, value) : value;
}

// Whether numbers of the kind are moved into the domain.
__device__ inline bool is_mapped(DistributionKind kind, DomainKind domain) {
  return domain != DomainKind::real && domain != DomainKind::quantizable &&
         (kind != DistributionKind::legal || domain == DomainKind::scale);
}

// Where an element lies, in bytes from the slot's start.
__device__ inline std::uint64_t place_of(const FillTensor& tensor, std::int64_t index) {
  std::int64_t elements = index;
  if (!tensor.dense) {
    elements = 0;
    auto rest = static_cast<std::uint32_t>(index);
#pragma unroll 1
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

// A number of the kind that no quad holds, in the storage type.
__device__ inline std::uint64_t stored(DistributionKind kind, const FillTensor& tensor, double value) {
  const StorageRule& type = tensor.storage;
  if (is_mapped(kind, tensor.domain.kind)) value = map_into_domain(tensor.domain, type.min_normal, value);
  value = clamped(value, limit_of(kind, type));
  switch (narrowing_of(type)) {
  case Narrowing::f32:
    return narrowed<Narrowing::f32>(type, value);
  case Narrowing::f16:
    return narrowed<Narrowing::f16>(type, value);
  case Narrowing::bf16:
    return narrowed<Narrowing::bf16>(type, value);
  default:
    return narrowed<Narrowing::other>(type, value);
  }
}

// Those elements of a quad that are `mine`, each of so many bytes.
template <class Bits>
__device__ inline void put_quad(const FillTensor& tensor, const Quad& quad, const bool (&mine)[4],
                                const Bits (&bits)[4], int bytes, unsigned char* slot) {
  if (tensor.dense) {
    unsigned char* first = slot + tensor.offset + std::uint64_t{quad.index(0)} * bytes;
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (mine[k]) put(first + 8 * k * bytes, bytes, bits[k]);
  } else {
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (mine[k]) put(slot + place_of(tensor, quad.index(k)), bytes, bits[k]);
  }
}

// Likewise, as the storage type has them.
template <Narrowing way>
__device__ inline void narrow_quad(const FillTensor& tensor, const Quad& quad, const bool (&mine)[4],
                                   const double (&value)[4], unsigned char* slot) {
  const StorageRule& type = tensor.storage;
  decltype(narrowed<way>(type, 0)) bits[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) bits[k] = narrowed<way>(type, value[k]);
  const int bytes = way == Narrowing::other ? type.bytes : static_cast<int>(sizeof bits[0]);
  put_quad(tensor, quad, mine, bits, bytes, slot);
}

} // namespace assay::fill
