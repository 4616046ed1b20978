#include "harness/run/confirm.h"
#include "harness/run/earned_nan.h"
#include "harness/run/envelope.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>

#include <limits>

namespace assay::testing {
namespace {

TEST(Envelope, HoldsEveryInstrumentTheMethodNames) {
  const SoftmaxOnFake fake(right_softmax);
  const auto trial = run_trial(*fake.kernel, fake.make_case(2, 64));
  ASSERT_TRUE(trial);
  const OpInfo& op = fake.kernel->op().info();
  const auto instruments = envelope_instruments(op, fake.kernel->manifest(), trial->plan, false);
  int noise = 0, up = 0, down = 0, signs = 0, contracted = 0, tiles = 0, strided = 0, lanes = 0;
  int inverted = 0;
  for (const Instrument& instrument : instruments) {
    noise += instrument.number == Instrument::Number::noise;
    up += instrument.functions == Instrument::Functions::all_up;
    down += instrument.functions == Instrument::Functions::all_down;
    signs += instrument.functions == Instrument::Functions::random_signs;
    inverted += (instrument.narrowed & reciprocals) != 0;
    contracted += instrument.contract;
    tiles += instrument.order == Order::blocked && (instrument.width == 8 || instrument.width == 32);
    strided += instrument.order == Order::strided && instrument.width == 64; // the block of this case
    lanes += instrument.order == Order::strided && (instrument.width == 8 || instrument.width == 32);
  }
  const int algorithms = static_cast<int>(op.algorithms.size());
  EXPECT_EQ(noise, 8);
  EXPECT_EQ(moving_instruments(op, fake.kernel->manifest(), trial->plan).size(), 8u);
  EXPECT_EQ(up, algorithms);
  EXPECT_EQ(down, algorithms);
  EXPECT_EQ(signs, 4 * algorithms);
  EXPECT_EQ(inverted, 4 * algorithms);
  EXPECT_GT(contracted, 0);
  EXPECT_GT(tiles, 0);
  EXPECT_GT(strided, 0);
  EXPECT_GT(lanes, 0);
}

TEST(Envelope, EveryAlgorithmHasDrawsOfNoise) {
  const SoftmaxOnFake fake(right_softmax);
  const auto trial = run_trial(*fake.kernel, fake.make_case(2, 64));
  ASSERT_TRUE(trial);
  const OpInfo& op = find_op("attention")->info();
  std::vector<int> draws(op.algorithms.size()), moving(op.algorithms.size());
  for (const Instrument& instrument : envelope_instruments(op, fake.kernel->manifest(), trial->plan, false))
    draws[static_cast<std::size_t>(instrument.algorithm)] += instrument.number == Instrument::Number::noise;
  for (const Instrument& instrument : moving_instruments(op, fake.kernel->manifest(), trial->plan))
    ++moving[static_cast<std::size_t>(instrument.algorithm)];
  EXPECT_THAT(draws, ::testing::Each(4));
  EXPECT_THAT(moving, ::testing::Each(2));
}

TEST(Envelope, NaNThatNothingExplainsIsOurOwnFault) {
  const SoftmaxOnFake fake(right_softmax);
  auto trial = run_trial(*fake.kernel, fake.make_case(2, 64));
  ASSERT_TRUE(trial);
  const Op& op = fake.kernel->op();
  std::vector<double> values = trial->reference[0].value;
  EXPECT_EQ(unearned_nan(op, *trial, 0, values), -1);
  values[70] = std::numeric_limits<double>::infinity(); // may be the overflow of a store
  EXPECT_EQ(unearned_nan(op, *trial, 0, values), -1);
  values[70] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(unearned_nan(op, *trial, 0, values), 70);

  trial->golden[0].formula_overflows.assign(values.size(), 0);
  trial->golden[0].formula_overflows[70] = 1;
  EXPECT_EQ(unearned_nan(op, *trial, 0, values), -1) << "the formula overflows there";
  trial->golden[0].formula_overflows[70] = 0;
  const auto extreme = run_trial(*fake.kernel, fake.make_case(2, 64, "constant(value=1e-30)"));
  ASSERT_TRUE(extreme);
  EXPECT_EQ(unearned_nan(op, *extreme, 0, values), -1) << "squares underflow there";

  trial->reference[0].value = values;
  EXPECT_EXIT(expect_earned_nans(op, *trial, trial->reference, {}), ::testing::ExitedWithCode(70),
              "operator softmax: y\\[1,6\\] is NaN evaluated as 'sequential, two_pass'");
}

TEST(Envelope, NeverShrinks) {
  const SoftmaxOnFake fake(right_softmax);
  const auto trial = run_trial(*fake.kernel, fake.make_case(2, 64));
  ASSERT_TRUE(trial);
  Envelope envelope(
      fake.kernel->op(), *trial,
      envelope_instruments(fake.kernel->op().info(), fake.kernel->manifest(), trial->plan, false));
  std::vector<double> last(envelope.error(0).begin(), envelope.error(0).end());
  while (envelope.widen())
    for (std::size_t i = 0; i < last.size(); ++i) {
      EXPECT_GE(envelope.error(0)[i], last[i]);
      last[i] = envelope.error(0)[i];
    }
  const auto bounds = rigorous_bounds(fake.kernel->op(), *trial, false);
  ASSERT_EQ(bounds[0].size(), last.size());
  for (std::size_t i = 0; i < last.size(); ++i)
    EXPECT_LE(last[i], bounds[0][i]) << "a legal evaluation above the rigorous bound, element " << i;
}

// Of one element by one rounding. A f16 store may round what that reaches: half of 2^-10.
TEST(Envelope, TheRigorousBoundHoldsBehindTheStore) {
  for (const auto& [type, bound] :
       {std::pair{DType::f32, 0x1p-24}, std::pair{DType::f16, 0x1p-24 + 0x1p-11}}) {
    std::string manifest = softmax_manifest;
    manifest.replace(manifest.find("\"f32\""), 5, fmt::format("\"{}\"", name_of(type)));
    const SoftmaxOnFake fake([](FakeLaunch&) {}, manifest);
    auto trial = run_trial(*fake.kernel, fake.make_case(1, 1, "zero()"));
    ASSERT_TRUE(trial);
    EXPECT_NEAR(rigorous_bounds(fake.kernel->op(), *trial, false)[0][0], bound, 0x1p-40);
  }
}

TEST(Confirm, RedrawsKeepTheDistributionAndChangeTheSeed) {
  const SoftmaxOnFake fake(right_softmax);
  const Case test_case = fake.make_case(2, 64);
  const Case again = redrawn(test_case, 1);
  EXPECT_EQ(again.inputs[0].distribution, test_case.inputs[0].distribution);
  EXPECT_NE(again.inputs[0].seed, test_case.inputs[0].seed);
  EXPECT_NE(redrawn(test_case, 2).inputs[0].seed, again.inputs[0].seed);
  EXPECT_EQ(redrawn(test_case, 1), again);
}

TEST(Confirm, AUniqueInputIsConfirmedByTheBoundAlone) {
  // Equal logits have no seed to redraw: what lies between envelope and bound stays unconfirmed in a search.
  for (const auto& [factor, finding] : {std::pair{0x1p-4f, true}, std::pair{0x1p-23f, false}}) {
    const SoftmaxOnFake fake([factor](FakeLaunch& launch) {
      right_softmax(launch);
      launch.buffer<float>(1)[0] *= 1 + factor;
    });
    const Judgement judgement = fake.judged(fake.make_case(1, 8, "zero()"));
    EXPECT_EQ(!judgement.findings.empty(), finding) << factor;
  }
}

// Softmax whose first row is off by `factor`, more than any legal evaluation and less than the rigorous
// bound.
FakeKernel first_row_off(float factor) {
  return [factor](FakeLaunch& launch) {
    right_softmax(launch);
    for (float& y : launch.buffer<float>(1).first(static_cast<std::size_t>(launch.scalar<std::int32_t>(2))))
      y *= factor;
  };
}

TEST(Confirm, RedrawsConfirmWhatEverySeedShows) {
  const SoftmaxOnFake fake(first_row_off(1 + 0x1p-19f));
  const Judgement judgement = fake.judged(fake.make_case(4, 64));
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_THAT(judgement.findings[0].confirmation, ::testing::HasSubstr("8 of 8 redraws above threshold'"));
  EXPECT_LT(judgement.findings[0].tensor->comparison.gate.target_error, judgement.findings[0].rigorous_bound);
}

TEST(Confirm, ARedrawThatLeavesTheOffendingLineAsItWasIsNoNewEvidence) {
  // The other rows are drawn anew, but the row that is off has no seed: sixteen times the same observation.
  const SoftmaxOnFake fake(first_row_off(1 + 0x1p-18f));
  Case test_case = fake.make_case(4, 64);
  test_case.inputs[0].patches = {{0, 1, 1, parse_distribution("ramp(low=-1, high=1)", {}).value()}};
  const Judgement judgement = fake.judged(test_case);
  EXPECT_THAT(judgement.findings, ::testing::IsEmpty());
  ASSERT_EQ(judgement.lucky.size(), 1u);
  EXPECT_THAT(judgement.lucky[0].why, ::testing::HasSubstr("0 of 0 redraws"));
}

} // namespace
} // namespace assay::testing
