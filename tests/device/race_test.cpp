#include "tests/device/kernel_fixture.h"

namespace assay::cpu::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Races : KernelTest {
  // Under every schedule.
  void expect_race(WarpFunction function, Shape shape, const std::vector<Argument>& args = {}) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      shape.seed = seed;
      EXPECT_THAT(kinds(run(function, shape, args)), Contains(Kind::race)) << "seed " << seed;
    }
  }
  void expect_none(WarpFunction function, Shape shape, const std::vector<Argument>& args = {}) {
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      shape.seed = seed;
      const LaunchReport report = run(function, shape, args);
      EXPECT_THAT(report.faults, IsEmpty()) << "seed " << seed << ": " << report.faults[0].message;
    }
  }
  static constexpr Shape four_warps{.block = {128}, .static_shared = 4096};
};

Lanes<std::uint32_t> threads(Warp* warp) {
  return each([&](unsigned lane) { return thread_of(warp, lane); });
}
template <class F> void write_shared(Warp* warp, F&& index, std::uint32_t line, Mask lanes = ~0u) {
  store(warp, lanes, shared_element<std::uint32_t>(index), threads(warp), line, Space::shared);
}
template <class F>
Lanes<std::uint32_t> read_shared(Warp* warp, F&& index, std::uint32_t line, Mask lanes = ~0u) {
  return load<std::uint32_t>(warp, lanes, shared_element<std::uint32_t>(index), line, Space::shared).value;
}

// Every thread writes its place and reads that of another warp.
template <bool synced> void neighbour(Warp* warp) {
  write_shared(warp, [&](unsigned lane) { return thread_of(warp, lane); }, 10);
  if (synced) barrier(warp, 11);
  read_shared(warp, [&](unsigned lane) { return (thread_of(warp, lane) + 32) % 128; }, 12);
}
TEST_F(Races, ReadingAnotherWarpsWriteNeedsABarrier) {
  expect_race(neighbour<false>, four_warps);
  expect_none(neighbour<true>, four_warps);
}

TEST_F(Races, TheMessageNamesBothSides) {
  const LaunchReport report = run(
      [](Warp* warp) {
        if (warp->warp_index == 0) write_shared(warp, [](unsigned lane) { return lane; }, 10);
        if (warp->warp_index == 1) read_shared(warp, [](unsigned lane) { return lane; }, 12);
      },
      {.block = {64}, .static_shared = 128, .seed = 1}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::race));
  EXPECT_EQ(report.faults[0].buffer, "shared");
  EXPECT_THAT(report.faults[0].message, HasSubstr("byte 0 of shared tile"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("kernel.cu:10"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("kernel.cu:12"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("thread (0,0,0) of block (0,0,0)"));
  EXPECT_THAT(report.faults[0].message, HasSubstr("thread (32,0,0) of block (0,0,0)"));
}

// Write, barrier, read, (barrier,) write again: the scratch of a block reduction used twice.
template <bool synced> void scratch_reuse(Warp* warp) {
  for (int round = 0; round < 2; ++round) {
    write_shared(warp, [&](unsigned) { return warp->warp_index; }, 20, 1);
    barrier(warp, 21);
    read_shared(warp, [](unsigned lane) { return lane % 4; }, 22);
    if (synced) barrier(warp, 23);
  }
}
TEST_F(Races, AReadBeforeTheNextWriteNeedsABarrierToo) {
  expect_race(scratch_reuse<false>, four_warps);
  for (std::uint64_t seed = 0; seed < 16;
       ++seed) { // one fault under every schedule: the place is the write's
    Shape shape = four_warps;
    shape.seed = seed;
    for (const Fault& fault : run(scratch_reuse<false>, shape, {}).faults) EXPECT_EQ(fault.place.line, 20);
  }
  expect_none(scratch_reuse<true>, four_warps);
}

// Lanes of one warp exchange through shared memory.
template <bool synced> void lanes_exchange(Warp* warp) {
  const auto base = [&](unsigned lane) { return warp->warp_index * 32 + lane; };
  write_shared(warp, base, 30);
  if (synced) assay_warp_synced(warp, ~0u);
  read_shared(warp, [&](unsigned lane) { return base(lane ^ 1); }, 31);
  if (synced) assay_warp_synced(warp, ~0u);
  write_shared(warp, [&](unsigned lane) { return base(31 - lane); }, 32);
}
TEST_F(Races, LanesOfAWarpNeedSyncwarp) {
  expect_race(lanes_exchange<false>, four_warps);
  expect_none(lanes_exchange<true>, four_warps);
}

template <bool broadcast>
void uniform_reads(Warp* warp) { // many read one place, then (after a barrier) one writes it
  if (warp->warp_index == 0) write_shared(warp, [](unsigned) { return 5; }, 40, 1);
  barrier(warp, 41);
  read_shared(warp, [](unsigned) { return 5; }, 42);
  if (broadcast) barrier(warp, 43);
  if (warp->warp_index == 3) write_shared(warp, [](unsigned) { return 5; }, 44, 1);
}
TEST_F(Races, ManyReadersOneWriter) {
  expect_race(uniform_reads<false>, four_warps);
  expect_none(uniform_reads<true>, four_warps);
}

TEST_F(Races, NeighbouringBytesAndHalvesDoNotRace) {
  expect_none(
      [](Warp* warp) {
        const auto bytes = each([&](unsigned lane) { return std::uint64_t{thread_of(warp, lane)}; });
        store(warp, ~0u, bytes, each([](unsigned) { return std::uint8_t{1}; }), 50, Space::shared);
        const auto halves =
            each([&](unsigned lane) { return 1024 + std::uint64_t{thread_of(warp, lane)} * 2; });
        store(warp, ~0u, halves, each([](unsigned) { return std::uint16_t{1}; }), 51, Space::shared);
      },
      four_warps);
}

TEST_F(Races, ABarrierBetweenWordsAndBytesIsSeenByte) { // coarse records split when finer accesses come
  expect_none(
      [](Warp* warp) {
        write_shared(warp, [&](unsigned lane) { return thread_of(warp, lane); }, 52);
        barrier(warp, 53);
        const auto bytes = each([&](unsigned lane) { return std::uint64_t{thread_of(warp, lane) ^ 1}; });
        store(warp, ~0u, bytes, each([](unsigned) { return std::uint8_t{1}; }), 54, Space::shared);
      },
      four_warps);
  expect_race(
      [](Warp* warp) {
        if (warp->warp_index == 0) write_shared(warp, [](unsigned lane) { return lane; }, 55);
        if (warp->warp_index == 1)
          store(warp, 1, each([](unsigned) { return std::uint64_t{3}; }),
                each([](unsigned) { return std::uint8_t{1}; }), 56, Space::shared);
      },
      four_warps);
}

TEST_F(Races, TheSameValueStoredTwiceIsANote) {
  const auto flag = [](Warp* warp) {
    store(warp, ~0u, shared_element<std::uint32_t>([](unsigned) { return 0; }),
          each([](unsigned) { return 1u; }), 60, Space::shared);
  };
  const LaunchReport report = run(flag, four_warps, {});
  EXPECT_THAT(kinds(report), IsEmpty());
  EXPECT_THAT(kinds(report, true), ElementsAre(Kind::race));
  const auto different = [](Warp* warp) { write_shared(warp, [](unsigned) { return 0; }, 61, 3); };
  const LaunchReport clash = run(different, {.static_shared = 64}, {});
  ASSERT_THAT(kinds(clash), ElementsAre(Kind::race));
  EXPECT_THAT(clash.faults[0].message, HasSubstr("in one instruction"));
}

TEST_F(Races, BlocksThatWriteOneOutputElement) {
  const BufferId y = buffer("y", BufferRole::output, DType::i32, {64});
  const auto clash = [](Warp* warp) {
    const auto block = warp->ctaid[0];
    store(warp, ~0u, element<std::uint32_t>(warp, 0, [](unsigned lane) { return lane; }),
          each([&](unsigned lane) { return lane + block; }), 70);
  };
  expect_race(clash, {.grid = {2}}, {y});
  const auto apart = [](Warp* warp) {
    const auto block = warp->ctaid[0];
    store(warp, ~0u, element<std::uint32_t>(warp, 0, [&](unsigned lane) { return block * 32 + lane; }),
          threads(warp), 71);
  };
  expect_none(apart, {.grid = {2}}, {y});
}

TEST_F(Races, LaunchesAreOrdered) {
  const BufferId y = buffer("y", BufferRole::scratch, DType::i32, {32}, true);
  const auto write = [](Warp* warp) {
    store(warp, ~0u, element<std::uint32_t>(warp, 0, [](unsigned lane) { return lane ^ 3; }), threads(warp),
          72);
  };
  for (int i = 0; i < 5; ++i) expect_none(write, {}, {y});
}

std::uint32_t atomic_add(Warp* warp, Mask lanes, const Lanes<std::uint64_t>& addresses, std::uint32_t line,
                         Ordering ordering = relaxed, std::uint32_t by = 1, Space space = Space::global) {
  const AtomicAccess access{{at(line), space, 4, 1, ordering}, AtomicOp::add, ValueType::u32, false};
  const auto operand = each([&](unsigned) { return by; });
  Lanes<std::uint32_t> old{};
  Mask undefined = 0;
  assay_atomic(warp, lanes, &access, addresses.data(), operand.data(), nullptr, old.data(), &undefined);
  return old[static_cast<std::size_t>(std::countr_zero(lanes))];
}

TEST_F(Races, AtomicsDoNotRaceWithEachOtherButWithPlainAccesses) {
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const auto count = [](Warp* warp) {
    atomic_add(warp, ~0u, element<int>(warp, 0, [](unsigned) { return 0; }), 80);
  };
  expect_none(count, {.grid = {4}, .block = {64}}, {counter});
  const auto mixed = [](Warp* warp) {
    const auto place = element<std::uint32_t>(warp, 0, [](unsigned) { return 0; });
    if (warp->ctaid[0] == 0)
      atomic_add(warp, 1, place, 81);
    else
      store(warp, 1, place, each([](unsigned) { return 9u; }), 82);
  };
  expect_race(mixed, {.grid = {2}}, {counter});
}

// threadFenceReduction: every block leaves a partial result; the last one to count itself reads them all.
template <bool fenced> void last_block_done(Warp* warp) { // partial, counter, y
  const auto block = warp->ctaid[0];
  store(warp, 1, element<std::uint32_t>(warp, 0, [&](unsigned) { return block * 4 + warp->warp_index; }),
        each([&](unsigned) { return block + 1; }), 90);
  if (fenced) assay_fence(warp, ~0u, 1);
  barrier(warp, 91);
  if (warp->warp_index == 0) {
    const std::uint32_t ticket = atomic_add(warp, 1, element<int>(warp, 1, [](unsigned) { return 0; }), 92);
    store(warp, 1, shared_element<std::uint32_t>([](unsigned) { return 0; }),
          each([&](unsigned) { return ticket == warp->nctaid[0] - 1 ? 1u : 0u; }), 93, Space::shared);
  }
  barrier(warp, 94);
  if (!read_shared(warp, [](unsigned) { return 0; }, 95)[0]) return;
  if (warp->warp_index != 0) return;
  std::uint32_t sum = 0;
  for (std::uint32_t first = 0; first < warp->nctaid[0] * 4; first += 32)
    for (const std::uint32_t part :
         load<std::uint32_t>(warp, ~0u,
                             element<std::uint32_t>(warp, 0, [&](unsigned lane) { return first + lane; }), 96)
             .value)
      sum += part;
  store(warp, 1, element<std::uint32_t>(warp, 2, [](unsigned) { return 0; }),
        each([&](unsigned) { return sum; }), 97);
}
TEST_F(Races, TheLastBlockMayReadWhatWasFenced) {
  const BufferId partial = buffer("partial", BufferRole::scratch, DType::i32, {64 * 4});
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId y = buffer("y", BufferRole::output, DType::i32, {1});
  const Shape shape{.grid = {64}, .block = {128}, .static_shared = 64};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    engine_.fill_zero(counter);
    Shape seeded = shape;
    seeded.seed = seed;
    const LaunchReport report = run(last_block_done<true>, seeded, {partial, counter, y});
    EXPECT_THAT(report.faults, IsEmpty()) << report.faults[0].message;
    EXPECT_EQ(contents<std::uint32_t>(y, 1)[0], 4u * 64 * 65 / 2);
    engine_.fill_zero(counter);
    EXPECT_THAT(kinds(run(last_block_done<false>, seeded, {partial, counter, y})), Contains(Kind::race));
  }
}

// Block 1 waits for block 0's flag. With `fenced` it may read the data; without, it may not.
template <bool fenced> void spin_on_flag(Warp* warp) { // data, flag, y
  const auto zero = [](unsigned) { return 0; };
  if (warp->ctaid[0] == 0) {
    store(warp, 1, element<std::uint32_t>(warp, 0, zero), each([](unsigned) { return 42u; }), 100);
    if (fenced) assay_fence(warp, 1, 1);
    store(warp, 1, element<std::uint32_t>(warp, 1, zero), each([](unsigned) { return 1u; }), 101,
          Space::global, volatile_access);
    return;
  }
  while (!load<std::uint32_t>(warp, 1, element<std::uint32_t>(warp, 1, zero), 102, Space::global,
                              volatile_access)
              .value[0])
    tick(warp, 103);
  if (fenced) assay_fence(warp, 1, 1);
  const auto data = load<std::uint32_t>(warp, 1, element<std::uint32_t>(warp, 0, zero), 104).value;
  store(warp, 1, element<std::uint32_t>(warp, 2, zero), data, 105);
}
TEST_F(Races, ASpinOnAFlagMakesProgressAndIsInOrder) {
  const BufferId data = buffer("data", BufferRole::scratch, DType::i32, {1});
  const BufferId flag = buffer("flag", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId y = buffer("y", BufferRole::output, DType::i32, {1});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    engine_.fill_zero(flag);
    const LaunchReport report = run(spin_on_flag<true>, {.grid = {2}, .seed = seed}, {data, flag, y});
    EXPECT_THAT(report.faults, IsEmpty()) << report.faults[0].message;
    EXPECT_EQ(contents<std::uint32_t>(y, 1)[0], 42u);
    EXPECT_LT(report.steps, 100u);
    engine_.fill_zero(flag);
    EXPECT_THAT(kinds(run(spin_on_flag<false>, {.grid = {2}, .seed = seed}, {data, flag, y})),
                Contains(Kind::race));
  }
}

// st.release and ld.acquire instead of fences.
void release_acquire(Warp* warp) {
  const auto zero = [](unsigned) { return 0; };
  if (warp->ctaid[0] == 0) {
    store(warp, 1, element<std::uint32_t>(warp, 0, zero), each([](unsigned) { return 42u; }), 110);
    store(warp, 1, element<std::uint32_t>(warp, 1, zero), each([](unsigned) { return 1u; }), 111,
          Space::global, release);
    return;
  }
  while (!load<std::uint32_t>(warp, 1, element<std::uint32_t>(warp, 1, zero), 112, Space::global, acquire)
              .value[0])
    tick(warp, 113);
  load<std::uint32_t>(warp, 1, element<std::uint32_t>(warp, 0, zero), 114);
}
TEST_F(Races, ReleaseAndAcquireOrder) {
  const BufferId data = buffer("data", BufferRole::scratch, DType::i32, {1});
  const BufferId flag = buffer("flag", BufferRole::scratch, DType::i32, {1}, true);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    engine_.fill_zero(flag);
    EXPECT_THAT(run(release_acquire, {.grid = {2}, .seed = seed}, {data, flag}).faults, IsEmpty());
  }
}

// cooperative_groups::grid_group::sync, as its header has it: a block barrier, thread 0 fences, counts,
// spins, fences.
void grid_sync(Warp* warp, std::uint32_t line) {
  barrier(warp, line);
  if (warp->warp_index == 0) {
    const auto place = element<std::uint32_t>(warp, 1, [](unsigned) { return 0; });
    assay_fence(warp, 1, 1);
    const std::uint32_t before = atomic_add(warp, 1, place, line + 1, relaxed,
                                            warp->ctaid[0] == 0 ? 0x80000000u - (warp->nctaid[0] - 1) : 1);
    while (
        ((load<std::uint32_t>(warp, 1, place, line + 2, Space::global, volatile_access).value[0] ^ before) &
         0x80000000u) == 0)
      tick(warp, line + 3);
    assay_fence(warp, 1, 1);
  }
  barrier(warp, line + 4);
}
template <bool synced>
void two_phases(
    Warp* warp) { // data, counter: every block writes its part, all read all, then write another part
  const auto blocks = warp->nctaid[0], block = warp->ctaid[0];
  const auto part = [&](std::uint32_t b) {
    return element<std::uint32_t>(warp, 0, [&, b](unsigned lane) { return b * 64 + thread_of(warp, lane); });
  };
  store(warp, ~0u, part(block), threads(warp), 120);
  if (synced) grid_sync(warp, 121);
  for (std::uint32_t b = 0; b < blocks; ++b) load<std::uint32_t>(warp, ~0u, part(b), 130);
  if (synced) grid_sync(warp, 131);
  store(warp, ~0u, part((block + 1) % blocks), threads(warp), 140);
}
TEST_F(Races, CooperativeGridSync) {
  const BufferId data = buffer("data", BufferRole::scratch, DType::i32, {16 * 64});
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  expect_none(two_phases<true>, {.grid = {16}, .block = {64}}, {data, counter});
  expect_race(two_phases<false>, {.grid = {16}, .block = {64}}, {data, counter});
}

// Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; nobody meets everybody.
template <bool right> void named_groups(Warp* warp) {
  const std::uint32_t group = warp->warp_index / 2;
  write_shared(warp, [&](unsigned lane) { return thread_of(warp, lane); }, 150);
  barrier(warp, 151, 1 + group, 64);
  read_shared(
      warp,
      [&](unsigned lane) {
        return (thread_of(warp, lane) + (right ? 32 : 64)) % 64 + (right ? group : 1 - group) * 64;
      },
      152);
  barrier(warp, 153, 1 + group, 64);
  write_shared(warp, [&](unsigned lane) { return (thread_of(warp, lane) + 32) % 64 + group * 64; }, 154);
}
TEST_F(Races, NamedBarriersOrderTheirParticipantsOnly) {
  expect_none(named_groups<true>, four_warps);
  expect_race(named_groups<false>, four_warps);
}

TEST_F(Races, ProducerArrivesConsumerSyncs) {
  const auto pipeline = [](Warp* warp) {
    if (warp->warp_index == 0) {
      write_shared(warp, [](unsigned lane) { return lane; }, 160);
      barrier(warp, 161, 3, 64, BarrierMode::arrive);
    } else if (warp->warp_index == 1) {
      barrier(warp, 162, 3, 64);
      read_shared(warp, [](unsigned lane) { return 31 - lane; }, 163);
    }
  };
  expect_none(pipeline, four_warps);
}

// A 16 x 16 tiled product's use of shared memory: strided, broadcast and consecutive reads between two
// barriers a step.
template <bool second_barrier> void tiles(Warp* warp) {
  const auto row = [&](unsigned lane) { return thread_of(warp, lane) / 16; };
  const auto col = [&](unsigned lane) { return thread_of(warp, lane) % 16; };
  for (int step = 0; step < 3; ++step) {
    write_shared(warp, [&](unsigned lane) { return row(lane) * 16 + col(lane); }, 170);
    write_shared(warp, [&](unsigned lane) { return 256 + row(lane) * 16 + col(lane); }, 171);
    barrier(warp, 172);
    for (unsigned k = 0; k < 16; ++k) {
      read_shared(warp, [&](unsigned lane) { return row(lane) * 16 + k; }, 173);
      read_shared(warp, [&](unsigned lane) { return 256 + k * 16 + col(lane); }, 174);
    }
    if (second_barrier) barrier(warp, 175);
  }
}
TEST_F(Races, TiledProduct) {
  const Shape shape{.grid = {3}, .block = {16, 16}, .static_shared = 2048};
  expect_none(tiles<true>, shape);
  expect_race(tiles<false>, shape);
}

TEST_F(Races, VolatileAccessesAreNotAccused) {
  expect_none(
      [](Warp* warp) { // warp-synchronous code of old, volatile
        const auto own = shared_element<std::uint32_t>([&](unsigned lane) { return thread_of(warp, lane); });
        const auto other =
            shared_element<std::uint32_t>([&](unsigned lane) { return thread_of(warp, lane) ^ 1; });
        store(warp, ~0u, own, threads(warp), 180, Space::shared, volatile_access);
        load<std::uint32_t>(warp, ~0u, other, 181, Space::shared, volatile_access);
        store(warp, ~0u, other, threads(warp), 182, Space::shared, volatile_access);
      },
      four_warps);
}

TEST_F(Races, ChecksCanBeSwitchedOff) {
  engine_.set_checks({.races = false, .undefined = true});
  expect_none(neighbour<false>, four_warps);
}

TEST_F(Races, VectorsWriteEveryByte) {
  const auto wide = [](Warp* warp) {
    const Access access{at(190), Space::shared, 4, 4, weak};
    const auto places = each([&](unsigned lane) { return std::uint64_t{lane} * 16; });
    const std::vector<float> values(4 * warp_lanes, 1.0f);
    const Mask undefined[4] = {};
    if (warp->warp_index == 0) assay_store(warp, ~0u, &access, places.data(), values.data(), undefined);
    if (warp->warp_index == 1) read_shared(warp, [](unsigned) { return 4 * 31 + 3; }, 191, 1);
  };
  // values on the heap would be lost if the warp were abandoned here; it is not
  expect_race(wide, {.block = {64}, .static_shared = 512});
}

} // namespace
} // namespace assay::cpu::testing
