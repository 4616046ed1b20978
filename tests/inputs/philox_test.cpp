#include "harness/inputs/philox.h"
#include "harness/inputs/rng.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace assay {
namespace {

// Random123's published known answer (kat_vectors, philox4x32 10 rounds, all zero).
TEST(Philox, the_published_known_answer) {
  const PhiloxBlock block = philox(0, 0, 0);
  EXPECT_EQ(block.word[0], 0x6627e8d5u);
  EXPECT_EQ(block.word[1], 0xe169c58du);
  EXPECT_EQ(block.word[2], 0xbc57ac4cu);
  EXPECT_EQ(block.word[3], 0x9b00dbd8u);
}

TEST(Philox, agrees_with_random123) {
  r123::Philox4x32 library;
  std::uint64_t state = 99;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t key = state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t counter = state = state * 6364136223846793005u + 1442695040888963407u;
    const auto stream = static_cast<std::uint32_t>(state >> 40);
    const auto expected =
        library({{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), stream, 0}},
                {{static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)}});
    const PhiloxBlock block = philox(key, counter, stream);
    for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(block.word[w], expected[w]);
  }
}

TEST(Philox, bulk_words_are_the_single_ones) {
  std::array<std::uint32_t, 32> words{};
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{32}, std::uint64_t{1} << 35}) {
    element_words_32(7, first, words.data());
    for (std::uint64_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], element_word(7, first + i));
  }
  // Element i takes word (i / 8) % 4 of block i / 32 * 8 + i % 8.
  EXPECT_EQ(element_word(0, 0), philox(0, 0, 0).word[0]);
  EXPECT_EQ(element_word(0, 8), philox(0, 0, 0).word[1]);
  EXPECT_EQ(element_word(0, 33), philox(0, 9, 0).word[0]);
}

TEST(Rng, is_deterministic_and_stays_in_range) {
  Rng a(5), b(5), c(6);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t word = a.next();
    EXPECT_EQ(word, b.next());
    differs = differs || word != c.next();
  }
  EXPECT_TRUE(differs);
  Rng rng(1);
  std::array<int, 5> hits{};
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t value = rng.between(-2, 2);
    ASSERT_TRUE(value >= -2 && value <= 2);
    ++hits[static_cast<std::size_t>(value + 2)];
    const double unit = rng.unit();
    ASSERT_TRUE(unit >= 0 && unit < 1);
  }
  for (const int count : hits) EXPECT_NEAR(count, 2000, 250); // 6 standard deviations of 40
  EXPECT_EQ(rng.between(INT64_MIN, INT64_MIN), INT64_MIN);
}

} // namespace
} // namespace assay
