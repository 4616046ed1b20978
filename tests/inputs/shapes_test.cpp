#include "harness/inputs/shapes.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

DimRange range_of(std::int64_t min, std::int64_t max, std::vector<std::int64_t> near = {},
                  std::int64_t multiple = 1) {
  return {"n", min, max, std::move(near), {}, multiple, {}};
}

TEST(Shapes, legal_sizes) {
  EXPECT_EQ(legal_size(range_of(1, 100), 0), 1);
  EXPECT_EQ(legal_size(range_of(1, 100), 1000), 100);
  EXPECT_EQ(legal_size(range_of(0, 100), -5), 0);
  EXPECT_EQ(legal_size(range_of(1, 100, {}, 8), 20), 16);
  EXPECT_EQ(legal_size(range_of(1, 100, {}, 8), 3), 8);
  EXPECT_EQ(legal_size(range_of(9, 100, {}, 8), 9), 16);
  EXPECT_FALSE(is_legal_size(range_of(9, 15, {}, 8), legal_size(range_of(9, 15, {}, 8), 12)));
}

TEST(Shapes, corner_sizes_are_the_tiles_and_their_neighbours) {
  EXPECT_EQ(corner_sizes(range_of(1, 1000, {32})),
            (std::vector<std::int64_t>{1, 2, 3, 31, 32, 33, 63, 64, 65}));
  EXPECT_EQ(corner_sizes(range_of(0, 33, {32})), (std::vector<std::int64_t>{0, 1, 2, 3, 31, 32, 33}));
  EXPECT_EQ(corner_sizes(range_of(8, 128, {64}, 8)), (std::vector<std::int64_t>{8, 56, 64, 72, 120, 128}));
  EXPECT_EQ(corner_sizes(range_of(5, 5)), std::vector<std::int64_t>{5});
}

TEST(Shapes, limit_sizes_are_those_of_16_bit_indices_and_the_largest) {
  EXPECT_EQ(limit_sizes(range_of(1, 300000)),
            (std::vector<std::int64_t>{32767, 32768, 32769, 65535, 65536, 65537, 300000}));
  EXPECT_EQ(limit_sizes(range_of(1, 40000, {}, 8)), (std::vector<std::int64_t>{32768, 40000}));
  EXPECT_EQ(limit_sizes(range_of(1, 1000)), std::vector<std::int64_t>{1000});
}

TEST(Shapes, drawn_sizes_are_legal_and_reach_every_interesting_one) {
  DimRange range = range_of(1, 100000, {256});
  range.production = {5120};
  const std::vector<std::int64_t> learnt{777};
  Rng rng(3);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t size = draw_size(range, learnt, rng);
    ASSERT_TRUE(is_legal_size(range, size)) << size;
    seen.insert(size);
  }
  for (const std::int64_t wanted :
       {1,   2,   3,    254,  255,  256, 257, 258,   511,   512,   513,   5120, 776,
        777, 778, 1023, 1024, 1025, 127, 131, 32767, 32768, 65535, 65536, 65537})
    EXPECT_TRUE(seen.contains(wanted)) << wanted;
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t size = draw_size(range_of(8, 128, {32, 96}, 8), learnt, rng);
    ASSERT_TRUE(size % 8 == 0 && size >= 8 && size <= 128) << size;
  }
  EXPECT_EQ(draw_size(range_of(0, 0), {}, rng), 0);
}

} // namespace
} // namespace assay
