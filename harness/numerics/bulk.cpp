#include "harness/numerics/bulk.h"

#include "harness/base/check.h"
#include "harness/base/large_pages.h"
#include "harness/base/parallel.h"
#include "harness/numerics/formats.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay {

namespace {

template <class T> T load(const std::byte* bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

template <class T> void store(std::byte* bytes, std::size_t i, T value) {
  std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}

double half_to_double(std::uint16_t half) {
  // The fields fit a float's; one product moves the exponent and makes subnormals normal.
  const std::uint32_t magnitude = (half & 0x7fffu) << 13;
  const float finite = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = magnitude | 0x7f800000u;
  const std::uint32_t bits = magnitude < 0x0f800000u ? std::bit_cast<std::uint32_t>(finite) : special;
  return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
}

std::uint16_t double_to_half(double x) {
  constexpr Format format = format_constant<DType::f16>();
  const float value = static_cast<float>(round_to(format, x)); // exact
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t finite =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p-112f) >> 13; // exact, as above
  const std::uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const std::uint32_t sign = magnitude > 0x7f800000u ? 0 : bits >> 16 & 0x8000u;
  return static_cast<std::uint16_t>((magnitude < 0x7f800000u ? finite : special) | sign);
}

double bfloat_to_double(std::uint16_t bfloat) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

std::uint16_t double_to_bfloat(double x) {
  constexpr Format format = format_constant<DType::bf16>();
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(round_to(format, x)));
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : bits >> 16);
}

float double_to_float(double x) {
  const float value = static_cast<float>(x);
  return value != value ? std::bit_cast<float>(0x7fc00000u) : value;
}

const std::array<double, 256>& values_of_bytes(DType type) {
  static constexpr auto table = [](DType of) {
    std::array<double, 256> values{};
    for (std::size_t bits = 0; bits < 256; ++bits) values[bits] = from_bits(of, bits);
    return values;
  };
  static const std::array<double, 256> e4m3 = table(DType::f8e4m3), e5m2 = table(DType::f8e5m2);
  return type == DType::f8e4m3 ? e4m3 : e5m2;
}

template <DType type> void round_all(std::span<const double> in, std::span<double> out) {
  constexpr Format format = format_constant<type>();
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = round_to(format, in[i]);
}

void widen_range(DType type, std::span<const std::byte> in, std::span<double> out) {
  const std::byte* from = in.data();
  const std::size_t count = out.size();
  switch (type) {
  case DType::f64:
    for (std::size_t i = 0; i < count; ++i) out[i] = load<double>(from, i);
    return;
  case DType::f32:
    for (std::size_t i = 0; i < count; ++i) out[i] = load<float>(from, i);
    return;
  case DType::f16:
    for (std::size_t i = 0; i < count; ++i) out[i] = half_to_double(load<std::uint16_t>(from, i));
    return;
  case DType::bf16:
    for (std::size_t i = 0; i < count; ++i) out[i] = bfloat_to_double(load<std::uint16_t>(from, i));
    return;
  case DType::f8e4m3:
  case DType::f8e5m2: {
    const std::array<double, 256>& values = values_of_bytes(type);
    for (std::size_t i = 0; i < count; ++i) out[i] = values[load<std::uint8_t>(from, i)];
    return;
  }
  case DType::i64:
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(load<std::int64_t>(from, i));
    return;
  case DType::i32:
    for (std::size_t i = 0; i < count; ++i) out[i] = load<std::int32_t>(from, i);
    return;
  case DType::i8:
    for (std::size_t i = 0; i < count; ++i) out[i] = load<std::int8_t>(from, i);
    return;
  case DType::u8:
    for (std::size_t i = 0; i < count; ++i) out[i] = load<std::uint8_t>(from, i);
    return;
  }
}

void narrow_range(DType type, std::span<const double> in, std::span<std::byte> out) {
  std::byte* to = out.data();
  switch (type) {
  case DType::f32:
    for (std::size_t i = 0; i < in.size(); ++i) store(to, i, double_to_float(in[i]));
    return;
  case DType::f16:
    for (std::size_t i = 0; i < in.size(); ++i) store(to, i, double_to_half(in[i]));
    return;
  case DType::bf16:
    for (std::size_t i = 0; i < in.size(); ++i) store(to, i, double_to_bfloat(in[i]));
    return;
  default:
    break;
  }
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint64_t bits = to_bits(type, in[i]);
    std::memcpy(to + i * size, &bits, size); // little-endian, as every machine with this GPU is
  }
}

void round_range(DType type, std::span<const double> in, std::span<const double> low, std::span<double> out) {
  if (!low.empty()) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = round_value(type, DoubleDouble(in[i], low[i]));
    return;
  }
  switch (type) {
  case DType::f64:
    std::ranges::copy(in, out.begin());
    return;
  case DType::f32:
    round_all<DType::f32>(in, out);
    return;
  case DType::f16:
    round_all<DType::f16>(in, out);
    return;
  case DType::bf16:
    round_all<DType::bf16>(in, out);
    return;
  case DType::f8e4m3:
    round_all<DType::f8e4m3>(in, out);
    return;
  case DType::f8e5m2:
    round_all<DType::f8e5m2>(in, out);
    return;
  default:
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = round_value(type, in[i]);
  }
}

} // namespace

void widen(DType type, std::span<const std::byte> in, std::span<double> out) {
  const std::size_t size = size_of(type);
  ASSAY_CHECK(in.size() == out.size() * size, "{} bytes for {} elements of {}", in.size(), out.size(),
              name_of(type));
  in_ranges(out.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    widen_range(type, in.subspan(begin * size, (end - begin) * size), out.subspan(begin, end - begin));
  });
}

std::vector<double> widen(const Tensor& tensor) {
  std::vector<double> out;
  reserve_large(out, static_cast<std::size_t>(tensor.element_count()));
  out.resize(static_cast<std::size_t>(tensor.element_count()));
  widen(tensor.dtype, tensor.bytes, out);
  return out;
}

void narrow(DType type, std::span<const double> in, std::span<std::byte> out) {
  const std::size_t size = size_of(type);
  ASSAY_CHECK(out.size() == in.size() * size, "{} bytes for {} elements of {}", out.size(), in.size(),
              name_of(type));
  in_ranges(in.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    narrow_range(type, in.subspan(begin, end - begin), out.subspan(begin * size, (end - begin) * size));
  });
}

void round_values(DType type, std::span<const double> in, std::span<const double> low,
                  std::span<double> out) {
  ASSAY_CHECK(in.size() == out.size() && (low.empty() || low.size() == in.size()), "{}, {} and {} elements",
              in.size(), low.size(), out.size());
  in_ranges(in.size(), least_elements, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    round_range(type, in.subspan(begin, count), low.empty() ? low : low.subspan(begin, count),
                out.subspan(begin, count));
  });
}

} // namespace assay
