// Blocks take turns at their strong accesses to global memory in about half of the schedules.
#include "tests/device/kernel_fixture.h"

#include <algorithm>

namespace assay::cpu::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;

constexpr std::uint64_t seeds = 32;
const auto first = [](unsigned) { return 0; };

std::uint32_t look(Warp* warp, unsigned buffer, std::uint32_t place, std::uint32_t line) {
  return load<std::uint32_t>(warp, 1, element<std::uint32_t>(warp, buffer, [&](unsigned) { return place; }),
                             line, Space::global, volatile_access)
      .value[0];
}
void put(Warp* warp, unsigned buffer, std::uint32_t place, std::uint32_t value, std::uint32_t line) {
  store(warp, 1, element<std::uint32_t>(warp, buffer, [&](unsigned) { return place; }),
        each([&](unsigned) { return value; }), line, Space::global, volatile_access);
}
std::uint32_t add(Warp* warp, unsigned buffer, std::uint32_t by, std::uint32_t line) {
  const AtomicAccess access{{at(line), Space::global, 4, 1, relaxed}, AtomicOp::add, ValueType::u32, false};
  const auto operand = each([&](unsigned) { return by; });
  Lanes<std::uint32_t> old{};
  Mask undefined = 0;
  assay_atomic(warp, 1, &access, element<std::uint32_t>(warp, buffer, first).data(), operand.data(), nullptr,
               old.data(), &undefined);
  return old[0];
}

struct Turns : KernelTest {
  // What the first element of the buffer, zero before, holds after a launch under each seed.
  std::vector<std::uint32_t> results(WarpFunction kernel, Shape shape, BufferId id,
                                     const std::vector<Argument>& args) {
    std::vector<std::uint32_t> found;
    for (shape.seed = 0; shape.seed < seeds; ++shape.seed) {
      engine_.fill_zero(id);
      const LaunchReport report = run(kernel, shape, args);
      EXPECT_THAT(report.faults, IsEmpty()) << "seed " << shape.seed << ": " << report.faults[0].message;
      found.push_back(contents<std::uint32_t>(id, 1)[0]);
    }
    return found;
  }
};

// Sixteen blocks count by a load and a store: an update is lost where another block comes between.
TEST_F(Turns, ALoadAndAStoreAreNoAtomic) {
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const auto two_steps = [](Warp* warp) { put(warp, 0, 0, look(warp, 0, 0, 10) + 1, 11); };
  const auto counts = results(two_steps, {.grid = {16}}, counter, {counter});
  const auto whole = std::ranges::count(counts, 16u);
  EXPECT_GE(whole, 8); // the schedules in which blocks run one after another
  EXPECT_LE(whole, 24);
  EXPECT_EQ(std::ranges::count_if(counts, [](std::uint32_t n) { return n < 1 || n > 16; }), 0);
  EXPECT_EQ(results(two_steps, {.grid = {16}}, counter, {counter}), counts); // a seed is one schedule
  const auto one_step = [](Warp* warp) { add(warp, 0, 1, 12); };
  EXPECT_THAT(results(one_step, {.grid = {16}}, counter, {counter}), Each(16u));
}

// Every block says 1, then 2; they note whether they find the block before theirs at 1.
TEST_F(Turns, AStateBetweenTwoPublicationsIsSeen) {
  const BufferId seen = buffer("seen", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId state = buffer("state", BufferRole::scratch, DType::i32, {8}, true);
  const auto publish = [](Warp* warp) {
    const std::uint32_t block = warp->ctaid[0];
    put(warp, 1, block, 1, 20);
    if (look(warp, 1, (block + 7) % 8, 21) == 1) add(warp, 0, 1, 22);
    put(warp, 1, block, 2, 23);
  };
  std::uint64_t schedules = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    engine_.fill_zero(seen);
    engine_.fill_zero(state);
    EXPECT_THAT(run(publish, {.grid = {8}, .seed = seed}, {seen, state}).faults, IsEmpty());
    schedules += contents<std::uint32_t>(seen, 1)[0] > 0;
  }
  EXPECT_GE(schedules, 6u);
  EXPECT_LE(schedules, 24u);
}

// Block b counts itself when all after it have: whoever starts first waits for others, which must start.
TEST_F(Turns, BlocksThatWaitForLaterOnesGoOn) {
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const auto wait = [](Warp* warp) {
    const std::uint32_t after = warp->nctaid[0] - 1 - warp->ctaid[0];
    if (warp->warp_index == 0) {
      while (look(warp, 0, 0, 30) != after) tick(warp, 31);
      add(warp, 0, 1, 32);
    }
    barrier(warp, 33);
  };
  const Shape shape{.grid = {40}, .block = {64}, .step_budget = 100000};
  EXPECT_THAT(results(wait, shape, counter, {counter}), Each(40u));
}

// The same through a loop that looks at two places in turn.
TEST_F(Turns, WaitingForEitherOfTwoFlagsGoesOn) {
  const BufferId flag = buffer("flag", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId other = buffer("other", BufferRole::scratch, DType::i32, {1}, true);
  const auto wait = [](Warp* warp) {
    if (warp->ctaid[0] == 3) return put(warp, 0, 0, 1, 40);
    while (look(warp, 0, 0, 41) == 0 && look(warp, 1, 0, 42) == 0) tick(warp, 43);
  };
  EXPECT_THAT(results(wait, {.grid = {4}, .step_budget = 100000}, flag, {flag, other}), Each(1u));
}

TEST_F(Turns, WaitingForWhatNeverComesIsATimeout) {
  const BufferId flag = buffer("flag", BufferRole::scratch, DType::i32, {1}, true);
  const auto wait = [](Warp* warp) {
    while (look(warp, 0, 0, 50) == 0) tick(warp, 51);
  };
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_THAT(kinds(run(wait, {.grid = {20}, .seed = seed, .step_budget = 2000}, {flag})),
                Contains(Kind::timeout));
}

// A block that comes between finds shared memory of its own, unwritten, and its own barriers.
template <bool synced> void shared_of_each(Warp* warp) { // counter, y
  const auto mine = [&](unsigned lane) { return thread_of(warp, lane); };
  const auto other = [&](unsigned lane) { return (thread_of(warp, lane) + 32) % 64; };
  const std::uint32_t block = warp->ctaid[0];
  add(warp, 0, 1, 60);
  store(warp, ~0u, shared_element<std::uint32_t>(mine),
        each([&](unsigned lane) { return block * 64 + thread_of(warp, lane); }), 61, Space::shared);
  add(warp, 0, 1, 62);
  if (synced) barrier(warp, 63);
  add(warp, 0, 1, 64);
  const auto read = load<std::uint32_t>(warp, ~0u, shared_element<std::uint32_t>(other), 65, Space::shared);
  store(warp, ~0u, element<std::uint32_t>(warp, 1, [&](unsigned lane) { return block * 64 + other(lane); }),
        read.value, 66, Space::global, weak, read.undefined);
}
TEST_F(Turns, SharedMemoryBarriersAndTheirRacesAreEachBlocksOwn) {
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId y = buffer("y", BufferRole::output, DType::i32, {1024});
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Shape shape{.grid = {16}, .block = {64}, .static_shared = 256, .seed = seed};
    const LaunchReport report = run(shared_of_each<true>, shape, {counter, y});
    EXPECT_THAT(report.faults, IsEmpty()) << report.faults[0].message;
    const auto values = contents<std::uint32_t>(y, 1024);
    for (std::uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(values[i], i) << "seed " << seed;
    EXPECT_THAT(kinds(run(shared_of_each<false>, shape, {counter, y})), Contains(Kind::race));
  }
}

} // namespace
} // namespace assay::cpu::testing
