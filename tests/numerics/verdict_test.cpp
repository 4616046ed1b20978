#include "harness/numerics/verdict.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay {
namespace {

Comparison passing() {
  Comparison comparison;
  comparison.structure.judged = 4;
  comparison.gate.threshold = 1;
  comparison.gate.target_error = 0.5;
  return comparison;
}

TEST(verdict, worst_of) {
  EXPECT_LT(Verdict::pass, Verdict::pass_with_limitations);
  EXPECT_EQ(worst(Verdict::pass, Verdict::pass_with_limitations), Verdict::pass_with_limitations);
  EXPECT_EQ(worst(Verdict::inconclusive, Verdict::pass_with_limitations), Verdict::inconclusive);
  EXPECT_EQ(worst(Verdict::inconclusive, Verdict::fail), Verdict::fail);
}

TEST(verdict, names_and_exit_codes) {
  EXPECT_EQ(name_of(Verdict::pass), "PASS");
  EXPECT_EQ(name_of(Verdict::pass_with_limitations), "PASS WITH LIMITATIONS");
  EXPECT_EQ(name_of(Verdict::inconclusive), "INCONCLUSIVE");
  EXPECT_EQ(name_of(Verdict::fail), "FAIL");
  EXPECT_EQ(exit_code(Verdict::pass), 0);
  EXPECT_EQ(exit_code(Verdict::pass_with_limitations), 0);
  EXPECT_EQ(exit_code(Verdict::inconclusive), 3);
  EXPECT_EQ(exit_code(Verdict::fail), 1);
}

TEST(verdict, of_one_output) {
  EXPECT_EQ(verdict_of(passing()), Verdict::pass);
  EXPECT_EQ(verdict_of(Comparison{}), Verdict::pass); // no elements

  Comparison over = passing();
  over.gate.target_error = 1.5;
  EXPECT_EQ(verdict_of(over), Verdict::fail);
  over.gate.conditioned = false; // then neither PASS nor FAIL follows
  EXPECT_EQ(verdict_of(over), Verdict::inconclusive);

  Comparison line = passing();
  line.gate.lines.lines_over = 1;
  EXPECT_EQ(verdict_of(line), Verdict::fail);

  Comparison structure = passing();
  structure.structure.wrong = 1;
  structure.gate.conditioned = false; // wrong structure needs no gate
  EXPECT_EQ(verdict_of(structure), Verdict::fail);

  Comparison bound = passing();
  bound.gate.golden_exact_enough = false;
  EXPECT_EQ(verdict_of(bound), Verdict::inconclusive);

  Comparison overflow = passing();
  overflow.structure.formula_overflow = 2;
  EXPECT_EQ(verdict_of(overflow), Verdict::pass_with_limitations);
  overflow.structure.judged = 0;
  EXPECT_EQ(verdict_of(overflow), Verdict::inconclusive);

  Comparison lines = passing();
  lines.gate.lines.lines_invalid = 1;
  EXPECT_EQ(verdict_of(lines), Verdict::pass_with_limitations);
}

TEST(verdict, no_pass_with_a_threshold_that_is_not_finite) {
  for (const double threshold :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Comparison comparison = passing();
    comparison.gate.threshold = threshold;
    comparison.internal_fault = true;
    EXPECT_FALSE(comparison.gate.passed());
    EXPECT_EQ(verdict_of(comparison), Verdict::inconclusive);
  }
}

} // namespace
} // namespace assay
