#include "harness/run/execute.h"
#include "harness/run/trial.h"
#include "tests/run/softmax_fixture.h"

#include <gmock/gmock.h>

namespace assay::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Execute, APlanThatKeepsStateRunsTwiceInHalfOfItsSchedules) {
  Plan plan;
  EXPECT_FALSE(runs_twice(plan, 1));
  plan.keeps_state = true;
  EXPECT_FALSE(runs_twice(plan, 0));
  int twice = 0;
  for (std::uint64_t schedule = 1; schedule <= 1000; ++schedule) twice += runs_twice(plan, schedule);
  EXPECT_NEAR(twice, 500, 80); // five standard deviations
}

// It writes its output on the first launch of its life only.
TEST(Execute, TheSecondLaunchIsLookedAtOnBuffersOfItsOwn) {
  int launches = 0;
  SoftmaxOnFake fake([&](FakeLaunch& launch) {
    if (launches++ == 0) right_softmax(launch);
  });
  const Case test_case = fake.make_case(2, 3);
  const auto trial = run_trial(*fake.kernel, test_case);
  ASSERT_TRUE(trial);
  EXPECT_EQ(launches, 1);
  EXPECT_THAT(trial->violations, IsEmpty());

  launches = 0;
  Plan plan = trial->plan;
  plan.keeps_state = true;
  std::uint64_t schedule = 1;
  while (!runs_twice(plan, schedule)) ++schedule;
  const auto execution = execute(fake.device, plan, trial->inputs, schedule);
  ASSERT_TRUE(execution);
  EXPECT_EQ(launches, 2);
  const std::vector<LaunchSpec>& specs = fake.device.launches();
  ASSERT_THAT(specs, SizeIs(3));
  EXPECT_EQ(specs[2].schedule_seed, schedule);
  EXPECT_NE(std::get<BufferId>(specs[1].args[1]), std::get<BufferId>(specs[2].args[1]));
  EXPECT_THAT(execution->unwritten, Contains(SizeIs(6)));
}

} // namespace
} // namespace assay::testing
