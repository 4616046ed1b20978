#include "harness/numerics/conditioning.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace assay {
namespace {

TEST(conditioning, reference_relative_error_by_hand) {
  EXPECT_EQ(reference_relative_error(0.25, 2, 0), 0.125);
  EXPECT_EQ(reference_relative_error(0.25, 2, 4), 0.0625); // the floor is the larger scale
  EXPECT_EQ(reference_relative_error(0, 0, 0), 0);         // an exact reference is valid whatever the scale
  EXPECT_EQ(reference_relative_error(1, 0, 0), std::numeric_limits<double>::infinity());
}

TEST(conditioning, condition_number_by_hand) {
  EXPECT_EQ(condition_number(std::vector<double>{1, 2, 3}), 1);
  EXPECT_EQ(condition_number(std::vector<double>{-1, -2, -3}), 1);
  EXPECT_EQ(condition_number(std::vector<double>{3, -1}), 2);
  EXPECT_EQ(condition_number(std::vector<double>{1e8, 1, -1e8}), 200000001);
  // In plain double the sum would be 0.
  EXPECT_EQ(condition_number(std::vector<double>{1e16, 0.5, 0.5, -1e16}), 20000000000000001.0);
  EXPECT_EQ(condition_number(std::vector<double>{1, -1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(condition_number(std::vector<double>{0, 0}), 1);
  EXPECT_EQ(condition_number({}), 1);
}

} // namespace
} // namespace assay
