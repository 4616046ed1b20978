#include "tests/device/kernel_fixture.h"

#include <set>

namespace assay::cpu::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y[i] = 2 * x[i]
void twice(Warp* warp) {
  const auto i = [&](unsigned lane) { return global_thread(warp, lane); };
  auto x = load<float>(warp, warp->alive, element<float>(warp, 0, i), 10);
  for (float& value : x.value) value *= 2;
  store(warp, warp->alive, element<float>(warp, 1, i), x.value, 11);
}

struct Launches : KernelTest {};

TEST_F(Launches, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<float> values(96 * 5);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const BufferId x = filled("x", BufferRole::input, DType::f32, {480}, values);
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {480});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_THAT(run(twice, {.grid = {5}, .block = {96}, .seed = seed}, {x, y}).faults, IsEmpty());
    const std::vector<float> result = contents<float>(y, 480);
    for (std::size_t i = 0; i < 480; ++i) ASSERT_EQ(result[i], 2 * values[i]);
  }
  EXPECT_THAT(engine_.unwritten(y, 10), IsEmpty());
}

TEST_F(Launches, ABlockThatIsNoMultipleOf32HasFewerLanes) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {100}, std::vector<float>(100, 1.5f));
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {100});
  EXPECT_THAT(run(twice, {.grid = {2}, .block = {50}}, {x, y}).faults, IsEmpty());
  EXPECT_THAT(contents<float>(y, 100), Each(3.0f));
}

TEST_F(Launches, ThreadCoordinatesFollowTheBlockShape) {
  static std::vector<std::array<std::uint32_t, 3>> seen;
  seen.clear();
  run(
      [](Warp* warp) {
        for (unsigned lane = 0; lane < warp_lanes; ++lane)
          if (warp->alive >> lane & 1)
            seen.push_back({warp->tid_x[lane], warp->tid_y[lane], warp->tid_z[lane]});
      },
      {.block = {3, 2, 2}}, {});
  ASSERT_EQ(seen.size(), 12u);
  EXPECT_THAT(seen[1], ElementsAre(1, 0, 0));
  EXPECT_THAT(seen[3], ElementsAre(0, 1, 0));
  EXPECT_THAT(seen[11], ElementsAre(2, 1, 1));
}

// Appends its block and warp to a log.
std::vector<std::uint32_t> log_of_order;
void log_order(Warp* warp) { log_of_order.push_back(warp->ctaid[0] * 100 + warp->warp_index); }

TEST_F(Launches, TheSeedDrawsTheOrderAndRepeatsIt) {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    log_of_order.clear();
    run(log_order, {.grid = {7}, .block = {128}, .seed = seed}, {});
    ASSERT_EQ(log_of_order.size(), 28u);
    EXPECT_EQ(std::set(log_of_order.begin(), log_of_order.end()).size(), 28u);
    const std::vector<std::uint32_t> first = log_of_order;
    log_of_order.clear();
    run(log_order, {.grid = {7}, .block = {128}, .seed = seed}, {});
    EXPECT_EQ(log_of_order, first);
    orders.insert(first);
  }
  EXPECT_EQ(orders.size(), 10u);
}

TEST_F(Launches,
       TheOrderIsTheSameOnEveryMachine) { // values worked out once; a change of them breaks stored cases
  log_of_order.clear();
  run(log_order, {.grid = {3}, .block = {64}, .seed = 42}, {});
  EXPECT_THAT(log_of_order, ElementsAre(200, 201, 0, 1, 100, 101));
}

TEST_F(Launches, AnEndlessLoopIsATimeout) {
  const LaunchReport report = run(
      [](Warp* warp) {
        for (;;) tick(warp, 77);
      },
      {.grid = {3}, .block = {64}, .step_budget = 100000}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::timeout));
  EXPECT_EQ(report.faults[0].place, (Place{"kernel.cu", 77, 0}));
  EXPECT_GE(report.steps, 100000u);
}

TEST_F(Launches, TheBudgetIsExactAndReplays) {
  const auto loop = [](Warp* warp) {
    for (int i = 0; i < 5000; ++i) tick(warp, 5);
  };
  EXPECT_THAT(run(loop, {.step_budget = 5000}, {}).faults, IsEmpty());
  EXPECT_THAT(kinds(run(loop, {.step_budget = 4998}, {})), ElementsAre(Kind::timeout));
  EXPECT_EQ(run(loop, {.step_budget = 5000}, {}).steps, 5000u);
}

TEST_F(Launches, LimitsAreCheckedBeforeAnythingRuns) {
  static int runs;
  runs = 0;
  const auto count = [](Warp*) { ++runs; };
  const auto launch_fault = [&](Shape shape, std::vector<Argument> args = {}) {
    const LaunchReport report = run(count, shape, std::move(args));
    EXPECT_THAT(kinds(report), ElementsAre(Kind::launch));
    return report.faults.empty() ? std::string() : report.faults[0].message;
  };
  EXPECT_THAT(launch_fault({.grid = {1, 65536}}), HasSubstr("grid dimension y is 65536 (1 to 65535)"));
  EXPECT_THAT(launch_fault({.grid = {1, 1, 65536}}), HasSubstr("grid dimension z"));
  EXPECT_THAT(launch_fault({.grid = {std::uint64_t{1} << 31}}), HasSubstr("grid dimension x"));
  EXPECT_THAT(launch_fault({.grid = {0}}), HasSubstr("grid dimension x is 0"));
  EXPECT_THAT(launch_fault({.block = {1025}}), HasSubstr("block dimension x is 1025"));
  EXPECT_THAT(launch_fault({.block = {1, 1, 65}}), HasSubstr("block dimension z is 65"));
  EXPECT_THAT(launch_fault({.block = {32, 33}}), HasSubstr("1056 threads"));
  EXPECT_THAT(launch_fault({.dynamic_shared = 227 * 1024 + 1}), HasSubstr("shared memory"));
  EXPECT_THAT(launch_fault({.static_shared = 48 * 1024 + 16}), HasSubstr("static shared"));
  EXPECT_THAT(launch_fault({.static_shared = 1024, .dynamic_shared = 227 * 1024}), HasSubstr("together"));
  EXPECT_EQ(runs, 0);
  EXPECT_THAT(run(count, {.grid = {1, 65535}, .block = {1}}, {}).faults, IsEmpty());
  EXPECT_THAT(run(count, {.block = {1024}, .dynamic_shared = 227 * 1024}, {}).faults, IsEmpty());
  EXPECT_EQ(runs, 65535 + 32);
}

TEST_F(Launches, ArgumentsMustFitTheParameters) {
  CompiledEntry entry;
  entry.function = [](Warp*) {};
  entry.info = {.name = "k",
                .param_bytes = {8, 4},
                .static_shared_bytes = 0,
                .required_block = {64, 0, 0},
                .max_block_threads = 128};
  entry.param_offsets = {0, 8};
  entry.param_window_bytes = 12;
  const BufferId x = buffer("x", BufferRole::scratch, DType::f32, {4});
  LaunchSpec spec{.entry = "k", .grid = {1}, .block = {64}, .args = {x, Scalar{7, 4}}};
  const auto message = [&] {
    auto report = engine_.launch(module_, entry, spec);
    return report->faults.empty() ? std::string("none") : report->faults[0].message;
  };
  EXPECT_EQ(message(), "none");
  spec.args = {x};
  EXPECT_THAT(message(), HasSubstr("takes 2 parameters, the launch gives 1"));
  spec.args = {x, Scalar{7, 8}};
  EXPECT_THAT(message(), HasSubstr("parameter 1 of k has 4 bytes, the launch gives 8"));
  spec.args = {x, Scalar{7, 4}};
  spec.block = {32};
  EXPECT_THAT(message(), HasSubstr("requires 64 (.reqntid)"));
  spec.block = {64, 3};
  EXPECT_THAT(message(), HasSubstr("bounded to 128 (.maxntid or registers)"));
}

} // namespace
} // namespace assay::cpu::testing
