// Each legal order of a sum, on sums small enough to work out by hand.
#include "harness/ops/reduce.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

// The order itself, written out: "((0+1)+2)".
std::string order_of(Order order, std::int64_t width, std::int64_t n) {
  return reduce(
      order, width, n, [](std::int64_t i) { return std::to_string(i); },
      [](std::string& partial, std::int64_t i) { partial = "(" + partial + "+" + std::to_string(i) + ")"; },
      [](std::string& left, const std::string& right) { left = "(" + left + "+" + right + ")"; });
}

TEST(Reduce, Sequential) { EXPECT_EQ(order_of(Order::sequential, 1, 4), "(((0+1)+2)+3)"); }
TEST(Reduce, Pairwise) {
  EXPECT_EQ(order_of(Order::pairwise, 1, 4), "((0+1)+(2+3))");
  EXPECT_EQ(order_of(Order::pairwise, 1, 5), "(((0+1)+2)+(3+4))");
}
TEST(Reduce, SequentialOfPermutedTerms) {
  EXPECT_EQ(order_of(Order::sequential, 2, 4), "(((3+2)+1)+0)");
  EXPECT_EQ(order_of(Order::sequential, 2, 1), "0");
  for (const std::int64_t n : {1, 2, 7, 12})
    for (std::int64_t choice = 2; choice < 14; ++choice) {
      std::string order = order_of(Order::sequential, choice, n);
      for (std::int64_t i = n; i-- > 0;) // each term once
        EXPECT_NE(order.find(std::to_string(i)), std::string::npos) << order;
      EXPECT_EQ(std::ranges::count(order, '+'), n - 1) << order;
    }
}
TEST(Reduce, BlockedByTile) { EXPECT_EQ(order_of(Order::blocked, 2, 5), "(((0+1)+(2+3))+4)"); }
TEST(Reduce, StridedByThreadsThenATree) {
  EXPECT_EQ(order_of(Order::strided, 4, 8), "(((0+4)+(2+6))+((1+5)+(3+7)))");
  EXPECT_EQ(order_of(Order::strided, 3, 4), "(((0+3)+2)+1)");
  EXPECT_EQ(order_of(Order::strided, 100, 2), "(0+1)") << "threads beyond n hold nothing";
}
TEST(Reduce, OneItem) {
  for (const Order order : {Order::sequential, Order::pairwise, Order::blocked, Order::strided})
    EXPECT_EQ(order_of(order, 3, 1), "0");
}

} // namespace
} // namespace assay
