// Strong accesses of a block's scope (.cta) in global memory: atomic for that block, a race with another.
#include "tests/device/kernel_fixture.h"

namespace assay::cpu::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Scopes : KernelTest {
  void expect_race(WarpFunction kernel, Shape shape, const std::vector<Argument>& args) {
    for (shape.seed = 0; shape.seed < 16; ++shape.seed)
      EXPECT_THAT(kinds(run(kernel, shape, args)), Contains(Kind::race)) << "seed " << shape.seed;
  }
  void expect_none(WarpFunction kernel, Shape shape, const std::vector<Argument>& args) {
    for (shape.seed = 0; shape.seed < 16; ++shape.seed) {
      const LaunchReport report = run(kernel, shape, args);
      EXPECT_THAT(report.faults, IsEmpty()) << "seed " << shape.seed << ": " << report.faults[0].message;
    }
  }
  BufferId counter_ = buffer("counter", BufferRole::scratch, DType::i32, {8}, true);
};

void count(Warp* warp, std::uint32_t place, bool of_block, std::uint32_t line, Space space = Space::global) {
  const AtomicAccess access{{at(line), space, 4, 1, relaxed, of_block}, AtomicOp::add, ValueType::u32, false};
  const auto addresses = space == Space::shared
                             ? shared_element<std::uint32_t>([&](unsigned) { return place; })
                             : element<std::uint32_t>(warp, 0, [&](unsigned) { return place; });
  const auto one = each([](unsigned) { return 1u; });
  Mask undefined = 0;
  assay_atomic(warp, ~0u, &access, addresses.data(), one.data(), nullptr, nullptr, &undefined);
}
void look(Warp* warp, bool of_block, std::uint32_t line) {
  const Access access{at(line), Space::global, 4, 1, relaxed, of_block};
  const auto addresses = element<std::uint32_t>(warp, 0, [](unsigned) { return 0; });
  Lanes<std::uint32_t> values{};
  Mask undefined = 0;
  assay_load(warp, 1, &access, addresses.data(), values.data(), &undefined);
}

TEST_F(Scopes, TwoBlocksMayNotShareACounterOfABlock) {
  expect_race([](Warp* warp) { count(warp, 0, true, 10); }, {.grid = {2}}, {counter_});
  expect_race([](Warp* warp) { count(warp, 0, warp->ctaid[0] == 0, 11); }, {.grid = {2}}, {counter_});
  expect_none([](Warp* warp) { count(warp, 0, false, 12); }, {.grid = {2}}, {counter_});
  const LaunchReport report =
      run([](Warp* warp) { count(warp, 0, true, 13); }, {.grid = {2}, .seed = 1}, {counter_});
  ASSERT_THAT(kinds(report), Contains(Kind::race));
  EXPECT_THAT(report.faults[0].message, HasSubstr("(strong within one block only)"));
}

TEST_F(Scopes, TheWarpsOfABlockMay) {
  expect_none([](Warp* warp) { count(warp, warp->ctaid[0], true, 20); }, {.grid = {8}, .block = {128}},
              {counter_});
  expect_none( // whichever of both the block's warps use
      [](Warp* warp) { count(warp, warp->ctaid[0], warp->warp_index % 2 == 0, 21); },
      {.grid = {8}, .block = {128}}, {counter_});
}

TEST_F(Scopes, SharedMemoryIsTheBlocksAnyway) {
  expect_none(
      [](Warp* warp) {
        if (warp->warp_index == 0)
          store(warp, 1, shared_element<std::uint32_t>([](unsigned) { return 0; }),
                each([](unsigned) { return 0u; }), 30, Space::shared);
        barrier(warp, 31);
        count(warp, 0, true, 32, Space::shared);
        count(warp, 0, false, 33, Space::shared);
      },
      {.grid = {2}, .block = {128}, .static_shared = 64}, {counter_});
}

TEST_F(Scopes, ALoadOfABlocksScopeRacesWithAnotherBlocksAtomic) {
  expect_race(
      [](Warp* warp) {
        if (warp->ctaid[0] == 0)
          look(warp, true, 40);
        else
          count(warp, 0, false, 41);
      },
      {.grid = {2}}, {counter_});
  expect_none([](Warp* warp) { look(warp, true, 42); }, {.grid = {4}, .block = {64}}, {counter_});
}

// What a barrier or a launch orders is no race, of whatever scope.
TEST_F(Scopes, OrderIsEnough) {
  for (int i = 0; i < 3; ++i)
    expect_none(
        [](Warp* warp) {
          count(warp, 0, true, 50);
          barrier(warp, 51);
          if (warp->warp_index == 0)
            store(warp, 1, element<std::uint32_t>(warp, 0, [](unsigned) { return 0; }),
                  each([](unsigned) { return 0u; }), 52);
        },
        {.block = {64}}, {counter_});
}

constexpr std::uint32_t of_block = 0, of_device = 1; // scopes of fences

auto place(Warp* warp, unsigned argument, unsigned index) {
  return element<std::uint32_t>(warp, argument, [index](unsigned) { return index; });
}
void write(Warp* warp, unsigned argument, unsigned index, std::uint32_t line, Ordering ordering = weak) {
  store(warp, 1, place(warp, argument, index), each([](unsigned) { return 1u; }), line, Space::global,
        ordering);
}
void await(Warp* warp, unsigned argument, unsigned index, std::uint32_t line) {
  while (!load<std::uint32_t>(warp, 1, place(warp, argument, index), line, Space::global, volatile_access)
              .value[0])
    tick(warp, line + 1);
}
void read(Warp* warp, unsigned argument, unsigned index, std::uint32_t line) {
  load<std::uint32_t>(warp, 1, place(warp, argument, index), line);
}

// Data and a flag; the reader is the other warp, or the other block.
template <std::uint32_t scope> void publish(Warp* warp) { // flags, data
  if (warp->ctaid[0] + warp->warp_index == 0) {
    write(warp, 1, 0, 60);
    assay_fence(warp, 1, scope);
    write(warp, 0, 0, 61, volatile_access);
  } else if (warp->ctaid[0] + warp->warp_index == 1) {
    await(warp, 0, 0, 62);
    assay_fence(warp, 1, scope);
    read(warp, 1, 0, 64);
  }
}

struct Fences : Scopes {
  BufferId data_ = buffer("data", BufferRole::scratch, DType::i32, {4});
  void expect(bool race, WarpFunction kernel, Shape shape) {
    for (shape.seed = 0; shape.seed < 16; ++shape.seed) {
      engine_.fill_zero(counter_);
      const LaunchReport report = run(kernel, shape, {counter_, data_});
      if (race)
        EXPECT_THAT(kinds(report), Contains(Kind::race)) << "seed " << shape.seed;
      else
        EXPECT_THAT(report.faults, IsEmpty()) << "seed " << shape.seed << ": " << report.faults[0].message;
    }
  }
};

TEST_F(Fences, OfABlocksScopeOrderForThatBlockAlone) {
  expect(false, publish<of_device>, {.grid = {2}});
  expect(true, publish<of_block>, {.grid = {2}});
  expect(false, publish<of_block>, {.grid = {1}, .block = {64}});
}

// What was written after the fence for all is not covered by it, nor by a later one of the block.
TEST_F(Fences, ALaterOneOfTheBlockAddsNothingForOthers) {
  const auto kernel = [](Warp* warp) {
    if (warp->ctaid[0] == 0) {
      write(warp, 1, 0, 70);
      assay_fence(warp, 1, of_device);
      write(warp, 1, 1, 71);
      assay_fence(warp, 1, of_block);
      write(warp, 0, 0, 72, volatile_access);
    } else {
      await(warp, 0, 0, 73);
      read(warp, 1, 0, 75);
      if (warp->nctaid[0] == 3) read(warp, 1, 1, 76);
    }
  };
  expect(false, kernel, {.grid = {2}});
  expect(true, kernel, {.grid = {3}});
}

// A warp publishes to its block, and another of that block to all: whoever learns from that one may read
// both.
TEST_F(Fences, ForAllPassOnWhatTheBlockPublished) {
  const auto kernel = [](Warp* warp) {
    if (warp->ctaid[0] == 0 && warp->warp_index == 1) {
      write(warp, 1, 0, 80);
      assay_fence(warp, 1, of_block);
      write(warp, 0, 0, 81, volatile_access);
    } else if (warp->ctaid[0] == 0) {
      await(warp, 0, 0, 82);
      assay_fence(warp, 1, warp->nctaid[0] == 2 ? of_device : of_block);
      write(warp, 0, 1, 84, volatile_access);
    } else if (warp->warp_index == 0) {
      await(warp, 0, 1, 85);
      read(warp, 1, 0, 87);
    }
  };
  expect(false, kernel, {.grid = {2}, .block = {64}});
  expect(true, kernel, {.grid = {3}, .block = {64}});
}

} // namespace
} // namespace assay::cpu::testing
