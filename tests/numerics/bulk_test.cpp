#include "harness/numerics/bulk.h"
#include "harness/numerics/formats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace assay {
namespace {

const std::vector<DType> all_types{DType::f64,    DType::f32, DType::f16, DType::bf16, DType::f8e4m3,
                                   DType::f8e5m2, DType::i64, DType::i32, DType::i8,   DType::u8};

bool same_value(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(bulk, widens_every_narrow_pattern_as_the_scalar_does) {
  for (const DType type : all_types) {
    const std::size_t size = size_of(type);
    const std::size_t count = size == 1 ? 256 : 65536;
    std::vector<std::byte> bytes(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits =
          size <= 2 ? i : i << (8 * size - 16) | i * 77; // the top 16 bits take every value
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    std::vector<double> values(count);
    widen(type, bytes, values);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * size, size);
      const double expected = from_bits(type, bits);
      ASSERT_TRUE(same_value(values[i], expected) || (std::isnan(values[i]) && std::isnan(expected)))
          << name_of(type) << " " << bits;
    }
  }
}

TEST(bulk, narrows_and_rounds_as_the_scalar_does) {
  std::mt19937_64 random(3);
  std::vector<double> values{0.0, -0.0,  INFINITY, -INFINITY, NAN,      65520,
                             448, 1e-50, -1e-50,   0x1p-133,  0x1.8p-24};
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                static_cast<int>(random() % 320) - 220));
  for (const DType type : all_types) {
    std::vector<std::byte> bytes(values.size() * size_of(type));
    std::vector<double> rounded(values.size()), back(values.size());
    narrow(type, values, bytes);
    round_values(type, values, {}, rounded);
    widen(type, bytes, back);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * size_of(type), size_of(type));
      ASSERT_EQ(bits, to_bits(type, values[i])) << name_of(type) << " " << values[i];
      if (std::isnan(values[i])) continue;
      ASSERT_EQ(rounded[i], round_value(type, values[i])) << name_of(type) << " " << values[i];
      ASSERT_EQ(rounded[i], back[i]) << name_of(type) << " " << values[i];
    }
  }
}

TEST(bulk, rounds_with_low_words_once) {
  const std::vector<double> high{1 + 0x1p-8, 1 + 0x1p-8, 1 + 0x1p-8}, low{0x1p-60, 0, -0x1p-60};
  std::vector<double> rounded(3);
  round_values(DType::bf16, high, low, rounded);
  EXPECT_EQ(rounded, (std::vector<double>{1 + 0x1p-7, 1, 1}));
}

TEST(bulk, tensor) {
  const Tensor tensor{DType::i8, {2, 1}, {std::byte{0xff}, std::byte{3}}};
  EXPECT_EQ(widen(tensor), (std::vector<double>{-1, 3}));
}

} // namespace
} // namespace assay
