#include "harness/reduce/minimize.h"
#include "harness/run/judge.h"
#include "harness/run/replay.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Kind> kinds_of(const Judgement& judgement) {
  std::vector<Kind> kinds;
  for (const Finding& finding : judgement.findings) kinds.push_back(finding.signature.kind);
  return kinds;
}

// Softmax that adds `amount` to one element of each result.
FakeKernel off_by(float amount) {
  return [amount](FakeLaunch& launch) {
    right_softmax(launch);
    launch.buffer<float>(1)[0] += amount;
  };
}

TEST(Judge, RightKernelHasNoFindingOnAnyCornerCase) {
  const SoftmaxOnFake fake(right_softmax);
  int judged = 0;
  for (const Case& test_case : corner_cases(fake.kernel->space())) {
    const Judgement judgement = fake.judged(test_case);
    EXPECT_THAT(judgement.findings, IsEmpty()) << judgement.findings.front().message << "\n"
                                               << to_text(test_case);
    ++judged;
  }
  EXPECT_GT(judged, 50);
}

TEST(Judge, NaiveSoftmaxOverflowsWhereTheFormulaDoesNot) {
  const SoftmaxOnFake fake(naive_softmax);
  // exp(100) is infinite in float32: infinity / infinity is NaN, where the golden is 0.5.
  const Judgement judgement = fake.judged(fake.make_case(1, 2, "constant(value=100)"));
  EXPECT_EQ(kinds_of(judgement), std::vector{Kind::structure});
  EXPECT_EQ(to_string(judgement.findings[0].signature), "fake-forward-y-structure");
  EXPECT_TRUE(std::isinf(judgement.findings[0].severity));
  EXPECT_EQ(judgement.findings[0].element, 0);
  EXPECT_THAT(judgement.findings[0].message, HasSubstr("y[0,0] = nan, golden 0.5"));
}

TEST(Judge, AGrossErrorIsAFindingAtOnce) {
  const SoftmaxOnFake fake(off_by(0.125f));
  const Judgement judgement = fake.judged(fake.make_case(4, 16));
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::gate});
  const Finding& finding = judgement.findings[0];
  EXPECT_THAT(finding.confirmation, HasSubstr("above the rigorous bound"));
  EXPECT_EQ(finding.element, 0);
  EXPECT_GT(finding.severity, 1e4);
  ASSERT_TRUE(finding.tensor);
  EXPECT_NEAR(finding.tensor->comparison.gate.target_error, 0.125, 1e-6);
}

TEST(Judge, ABitOffWhereEveryLegalEvaluationIsExactIsNotConfirmed) {
  // Over 4 equal logits exp(0) = 1, the sum 4 and the quotient 1/4 are exact in every order, so the threshold
  // is 0. The error, 2^-25, is one unit in the last place of 1/4: as much as the quotient is off where exact
  // results move, and half of threshold'.
  const SoftmaxOnFake fake(off_by(0x1p-25f));
  const Judgement judgement = fake.judged(fake.make_case(1, 4, "zero()"));
  EXPECT_THAT(judgement.findings, IsEmpty());
  ASSERT_THAT(judgement.lucky, SizeIs(1));
  EXPECT_EQ(judgement.lucky[0].violation.signature.kind, Kind::gate);
  EXPECT_EQ(judgement.lucky[0].severity, 0.5);
  EXPECT_TRUE(std::isinf(judgement.lucky[0].violation.ratio));
}

TEST(Judge, WhatALegalEvaluationMayBeOffIsALuckyReference) {
  // Pairwise sums are more exact than the sequential reference: the reversed order stands for another legal
  // kernel. Over many inputs some reference is lucky; none may become a finding.
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    const auto x = launch.buffer<float>(0);
    const auto y = launch.buffer<float>(1);
    float sum = 0;
    for (std::size_t i = x.size(); i-- > 0;) sum += std::exp(x[i] - maximum(x));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::exp(x[i] - maximum(x)) * (1 / sum);
  });
  std::size_t lucky = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Judgement judgement = fake.judged(
        fake.make_case(1, 1 + static_cast<std::int64_t>(seed % 40), "normal(mean=0, stddev=2)", seed));
    EXPECT_THAT(judgement.findings, IsEmpty()) << seed;
    for (const LuckyReference& reference : judgement.lucky) {
      ++lucky;
      EXPECT_LE(reference.severity, 1);
      EXPECT_THAT(reference.why, HasSubstr("explained by"));
    }
  }
  EXPECT_GT(lucky, 0u);
}

TEST(Judge, BetweenEnvelopeAndBoundTheRedrawsDecide) {
  // Every element is off by a few units: more than any legal evaluation on every seed.
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    right_softmax(launch);
    for (float& y : launch.buffer<float>(1)) y *= 1 + 0x1p-17f;
  });
  const Case test_case = fake.make_case(8, 64);
  const Judgement judgement = fake.judged(test_case);
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::gate});
  // The same verdict on this very input, without redraws.
  EXPECT_EQ(kinds_of(fake.judged(test_case, JudgeMode::on_this_input)), std::vector{Kind::gate});
}

TEST(Judge, UnwrittenElementsAreFound) {
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    const std::vector<std::byte> before(launch.device.buffers()[1].bytes);
    right_softmax(launch);
    auto& bytes = launch.device.buffers()[1].bytes;
    std::copy(before.end() - 4, before.end(), bytes.end() - 4);
  });
  const Judgement judgement = fake.judged(fake.make_case(2, 3));
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::unwritten});
  EXPECT_EQ(judgement.findings[0].element, 5);
  EXPECT_EQ(judgement.findings[0].message, "y[1,2] was never written");
}

TEST(Judge, FaultsAreFindingsAndFatalOnesEndTheCase) {
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    launch.faults.push_back(
        {Kind::out_of_bounds, "x", {"kernels/fake/k.cu", 41, 3}, "reads x[64] of 64", false});
    launch.faults.push_back({Kind::race, "y", {"k.cu", 7, 0}, "same value twice", true});
  });
  const Judgement judgement = fake.judged(fake.make_case(2, 32));
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::out_of_bounds});
  EXPECT_EQ(judgement.findings[0].signature.output, "x");
  EXPECT_EQ(judgement.findings[0].signature.place, (Place{"k.cu", 41, 0}));
  EXPECT_THAT(judgement.trial.tensors, IsEmpty());
  EXPECT_THAT(judgement.trial.faults, SizeIs(2)) << "notes are told too";
}

TEST(Judge, ADifferentScheduleThatChangesBitsIsAFindingUnlessDeclared) {
  // The last bit depends on the order in which blocks run; each of both results is right.
  const auto unstable = [](FakeLaunch& launch) {
    right_softmax(launch);
    float& y = launch.buffer<float>(1)[0];
    if (launch.spec.schedule_seed & 1) y = std::nextafter(y, 1.0f);
  };
  const SoftmaxOnFake fake(unstable);
  const Case test_case = fake.make_case(4, 32);
  const Judgement judgement = fake.judged(test_case, JudgeMode::search, 8);
  EXPECT_EQ(kinds_of(judgement), std::vector{Kind::nondeterministic});
  EXPECT_EQ(shows(*fake.kernel, test_case, judgement.findings[0].signature),
            std::numeric_limits<double>::infinity());

  std::string declared = softmax_manifest;
  declared.insert(declared.find("dtypes"), "deterministic = false\n");
  const SoftmaxOnFake allowed(unstable, declared);
  EXPECT_THAT(allowed.judged(allowed.make_case(4, 32)).findings, IsEmpty());
}

TEST(Judge, AFaultThatOnlyOneScheduleShowsReplaysUnderThatSchedule) {
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    right_softmax(launch);
    if (launch.spec.schedule_seed % 4 == 3) launch.buffer<float>(1)[1] = 0.75f;
  });
  Case test_case = fake.make_case(4, 32);
  test_case.schedule_seed = 0;
  const Judgement judgement = fake.judged(test_case, JudgeMode::search, 20);
  ASSERT_EQ(kinds_of(judgement), (std::vector{Kind::gate, Kind::nondeterministic}));
  EXPECT_EQ(judgement.findings[0].test_case.schedule_seed % 4, 3u);
  EXPECT_TRUE(shows(*fake.kernel, judgement.findings[0].test_case, judgement.findings[0].signature));
}

TEST(Judge, WhatARepeatLeavesUnwrittenIsFound) {
  const SoftmaxOnFake fake([](FakeLaunch& launch) {
    if (launch.spec.schedule_seed == 0) right_softmax(launch);
  });
  Case test_case = fake.make_case(2, 3);
  test_case.schedule_seed = 0;
  const Judgement judgement = fake.judged(test_case, JudgeMode::search, 1);
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::unwritten});
  EXPECT_NE(judgement.findings[0].test_case.schedule_seed, 0u);
}

TEST(Judge, EmptyOutputsPassWithoutALaunch) {
  std::string manifest = softmax_manifest;
  manifest.replace(manifest.find("rows = { min = 1"), 16, "rows = { min = 0");
  const SoftmaxOnFake fake(right_softmax, manifest);
  const Judgement judgement = fake.judged(fake.make_case(0, 5));
  EXPECT_THAT(judgement.findings, IsEmpty());
  EXPECT_THAT(fake.device.launches(), IsEmpty());
}

TEST(Judge, ShowsAsksForTheVerySignature) {
  const SoftmaxOnFake fake(naive_softmax);
  const Case overflowing = fake.make_case(1, 2, "constant(value=100)");
  Signature signature{"fake", Pass::forward, "y", Kind::structure, {}};
  EXPECT_TRUE(shows(*fake.kernel, overflowing, signature));
  EXPECT_FALSE(shows(*fake.kernel, fake.make_case(1, 2, "zero()"), signature));
  signature.kind = Kind::gate;
  EXPECT_FALSE(shows(*fake.kernel, overflowing, signature));
}

TEST(Minimize, NaiveSoftmaxShrinksToTwoElements) {
  const SoftmaxOnFake fake(naive_softmax);
  const Case failing = fake.make_case(17, 257, "extreme_logits(magnitude=1000)", 5);
  const Judgement judgement = fake.judged(failing);
  ASSERT_EQ(kinds_of(judgement), std::vector{Kind::structure});
  const Signature signature = judgement.findings[0].signature;
  const auto keep = [&](const Case& candidate) {
    return shows(*fake.kernel, candidate, signature).has_value();
  };
  const auto begin = std::chrono::steady_clock::now();
  const Minimized small = minimize(failing, fake.kernel->space(), keep);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_TRUE(small.complete);
  EXPECT_EQ(small.test_case.dims[0].second, 1);
  EXPECT_LE(small.test_case.dims[1].second, 2);
  EXPECT_LE(elements_off_base(small.test_case, fake.kernel->space()), 2u);
  EXPECT_TRUE(keep(small.test_case));
  EXPECT_EQ(to_text(minimize(failing, fake.kernel->space(), keep).test_case), to_text(small.test_case));
}

} // namespace
} // namespace assay::testing
