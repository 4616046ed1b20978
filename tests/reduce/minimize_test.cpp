#include "harness/inputs/fill.h"
#include "harness/numerics/bulk.h"
#include "harness/reduce/minimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

Expression size(const char* text) { return Expression::parse(text, {}).value(); }

CaseSpace matrix_space() {
  CaseSpace space;
  space.manifest = "kernels/k/kernel.toml";
  space.dtypes = {DType::f32, DType::f16};
  space.dims = {{"rows", 1, 64, {8}, {}, 1, {}}, {"cols", 1, 1024, {32, 256}, {}, 1, {}}};
  space.inputs = {{"x", std::nullopt, {size("rows"), size("cols")}, {}, false, {}}};
  return space;
}

Case matrix_case(std::int64_t rows, std::int64_t cols, const char* distribution, const CaseSpace& space) {
  Case test_case;
  test_case.manifest = space.manifest;
  test_case.dims = {{"rows", rows}, {"cols", cols}};
  TensorInput x;
  x.tensor = "x";
  x.distribution = parse_distribution(distribution, {}).value();
  x.seed = 12345;
  test_case.inputs = {x};
  return repair(test_case, space).value();
}

std::vector<double> values(const Case& test_case) {
  const std::vector<std::int64_t> shape{test_case.dims[0].second, test_case.dims[1].second};
  return widen(fill(test_case.inputs[0], test_case.dtype, shape, {}, test_case.dims));
}

TEST(KeptSeverity, IsHalfTheOriginalButAtMostFour) {
  EXPECT_EQ(kept_severity(3), 1.5);
  EXPECT_EQ(kept_severity(8), 4);
  EXPECT_EQ(kept_severity(1e9), 4);
  EXPECT_EQ(kept_severity(INFINITY), 4);
}

TEST(Minimize, KeepsOneLargeElementOnly) {
  const CaseSpace space = matrix_space();
  const Case failing = matrix_case(33, 300, "normal(mean=0, stddev=100)", space);
  const auto any_above_90 = [](const Case& candidate) {
    for (const double v : values(candidate))
      if (v > 90) return true;
    return false;
  };
  ASSERT_TRUE(any_above_90(failing));
  const Minimized small = minimize(failing, space, any_above_90);
  EXPECT_TRUE(small.complete);
  EXPECT_TRUE(any_above_90(small.test_case));
  EXPECT_EQ(values(small.test_case).size(), 1u);
  EXPECT_LE(elements_off_base(small.test_case, space), 1u);
  EXPECT_GT(small.steps, 0u);
  EXPECT_LT(small.runs, 2000u);
}

TEST(Minimize, ColumnsStayWhereTheFaultNeedsThem) {
  const CaseSpace space = matrix_space();
  const Case failing = matrix_case(12, 900, "normal(mean=0, stddev=1)", space);
  const Minimized small =
      minimize(failing, space, [](const Case& candidate) { return candidate.dims[1].second >= 257; });
  EXPECT_EQ(small.test_case.dims[0].second, 1);
  EXPECT_EQ(small.test_case.dims[1].second, 257);
  EXPECT_EQ(elements_off_base(small.test_case, space), 0u);
}

TEST(Minimize, ValuesOfALargeTensorAreLetGoFirst) {
  CaseSpace space = matrix_space();
  space.dims[0].max = 70000;
  const Case failing = matrix_case(65537, 2, "normal(mean=0, stddev=1)", space);
  const auto many_rows = [](const Case& candidate) { return candidate.dims[0].second > 65535; };
  const Minimized hurried = minimize(failing, space, many_rows, {std::chrono::seconds(60), 2});
  EXPECT_EQ(elements_off_base(hurried.test_case, space), 0u);
  const Minimized small = minimize(failing, space, many_rows);
  EXPECT_EQ(small.test_case.dims[0].second, 65536);
  EXPECT_EQ(small.test_case.dims[1].second, 1);
}

TEST(Minimize, OneElementOfALargeTensorIsEnough) {
  CaseSpace space = matrix_space();
  space.dims[0].max = 70000;
  const Case failing = matrix_case(66000, 1, "normal(mean=0, stddev=1)", space);
  const Minimized small = minimize(failing, space, [](const Case& candidate) {
    const std::vector<double> x = values(candidate);
    return x.size() > 65536 && x[65536] != x[0];
  });
  EXPECT_EQ(small.test_case.dims[0].second, 65537);
  EXPECT_EQ(elements_off_base(small.test_case, space), 1u);
}

TEST(Minimize, OnePlaceAtTheEndOfALineIsEnough) {
  const CaseSpace space = matrix_space();
  const Case failing = matrix_case(1, 1000, "normal(mean=0, stddev=1)", space);
  const Minimized small = minimize(failing, space, [](const Case& candidate) {
    const std::vector<double> x = values(candidate);
    return x.size() > 800 && std::ranges::max_element(x) - x.begin() > 799;
  });
  EXPECT_EQ(small.test_case.dims[1].second, 801);
  EXPECT_LE(elements_off_base(small.test_case, space), 1u);
}

TEST(Minimize, AnUnshrinkableCaseComesBackAsItIs) {
  const CaseSpace space = matrix_space();
  const Case failing = matrix_case(3, 4, "normal(mean=0, stddev=1)", space);
  const Minimized small = minimize(failing, space, [&](const Case& c) { return c == failing; });
  EXPECT_EQ(small.test_case, failing);
  EXPECT_EQ(small.steps, 0u);
}

TEST(Minimize, LimitsEndIt) {
  const CaseSpace space = matrix_space();
  const Case failing = matrix_case(33, 300, "normal(mean=0, stddev=100)", space);
  const Minimized small =
      minimize(failing, space, [](const Case&) { return false; }, {std::chrono::seconds(60), 5});
  EXPECT_FALSE(small.complete);
  EXPECT_EQ(small.runs, 5u);
  EXPECT_EQ(small.test_case, failing);
  const Minimized late =
      minimize(failing, space, [](const Case&) { return true; }, {std::chrono::milliseconds(0), 100});
  EXPECT_FALSE(late.complete);
  EXPECT_EQ(late.runs, 0u);
}

TEST(ElementsOffBase, CountsWhatAReaderMustLookAt) {
  const CaseSpace space = matrix_space();
  EXPECT_EQ(elements_off_base(matrix_case(4, 8, "zero()", space), space), 0u);
  EXPECT_EQ(elements_off_base(matrix_case(4, 8, "constant(value=3)", space), space), 0u);
  EXPECT_EQ(elements_off_base(matrix_case(4, 8, "normal(mean=0, stddev=1)", space), space), 32u);
  EXPECT_EQ(elements_off_base(matrix_case(4, 8, "one_hot(value=1, place=0)", space), space), 4u);
  Case test_case = matrix_case(4, 8, "zero()", space);
  test_case.inputs[0].overrides = {{{1, 2}, 0x3f800000}, {{3, 7}, 0x40000000}};
  EXPECT_EQ(elements_off_base(test_case, space), 2u);
}

} // namespace
} // namespace assay
