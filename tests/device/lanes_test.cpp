// Lanes of a warp that are not in step: what volatile accesses without synchronisation may find.
#include "tests/device/kernel_fixture.h"

#include <algorithm>
#include <set>

namespace assay::cpu::testing {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t seeds = 32;

void put(Warp* warp, Mask lanes, const Lanes<std::uint64_t>& places, const Lanes<std::uint32_t>& values,
         std::uint32_t line) {
  store(warp, lanes, places, values, line, Space::shared, volatile_access);
}
Loaded<std::uint32_t> look(Warp* warp, Mask lanes, const Lanes<std::uint64_t>& places, std::uint32_t line) {
  return load<std::uint32_t>(warp, lanes, places, line, Space::shared, volatile_access);
}
const auto own = [](unsigned lane) { return lane; };

struct LanesApart : KernelTest {
  std::vector<std::uint32_t> results(WarpFunction kernel) {
    const BufferId y = buffer("y", BufferRole::output, DType::i32, {32});
    std::vector<std::uint32_t> found;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const LaunchReport report = run(kernel, {.static_shared = 256, .seed = seed}, {y});
      EXPECT_THAT(report.faults, IsEmpty()) << "seed " << seed << ": " << report.faults[0].message;
      for (const std::uint32_t value : contents<std::uint32_t>(y, 32)) found.push_back(value);
    }
    return found;
  }
};
void give(Warp* warp, const Lanes<std::uint32_t>& values) {
  store(warp, ~0u, element<std::uint32_t>(warp, 0, own), values, 900);
}

// The last warp of a reduction as it was written before Volta; the sum of 1 to 32 is 528.
template <bool synced> void tail(Warp* warp) {
  put(warp, ~0u, shared_element<std::uint32_t>(own), each([](unsigned lane) { return lane + 1; }), 10);
  put(warp, ~0u, shared_element<std::uint32_t>([](unsigned lane) { return lane + 32; }),
      each([](unsigned) { return 0u; }), 11);
  assay_warp_synced(warp, ~0u);
  for (unsigned step = 16; step > 0; step /= 2) {
    const auto mine = look(warp, ~0u, shared_element<std::uint32_t>(own), 12);
    const auto other =
        look(warp, ~0u, shared_element<std::uint32_t>([&](unsigned lane) { return lane + step; }), 13);
    if (synced) assay_warp_synced(warp, ~0u);
    put(warp, ~0u, shared_element<std::uint32_t>(own),
        each([&](unsigned lane) { return mine.value[lane] + other.value[lane]; }), 14);
    if (synced) assay_warp_synced(warp, ~0u);
  }
  const auto sum = look(warp, 1, shared_element<std::uint32_t>([](unsigned) { return 0; }), 15).value[0];
  give(warp, each([&](unsigned) { return sum; }));
}
TEST_F(LanesApart, AWarpsTailWithoutSyncwarpIsWrongInHalfOfTheSchedules) {
  const auto right = std::ranges::count(results(tail<false>), 528u) / 32;
  EXPECT_GE(right, 8);
  EXPECT_LE(right, 24);
  EXPECT_THAT(results(tail<true>), Each(528u));
}

TEST_F(LanesApart, ALaneFindsWhatItStored) {
  EXPECT_THAT(results([](Warp* warp) {
                const auto places = shared_element<std::uint32_t>(own);
                for (std::uint32_t round = 1; round <= 3; ++round) {
                  put(warp, ~0u, places, each([&](unsigned) { return round; }), 20);
                  assay_warp_synced(warp, round == 1 ? ~0u : 0);
                }
                give(warp, look(warp, ~0u, places, 21).value);
              }),
              Each(3u));
}

// Lane 0 stores 1 where 0 was; the others look twice: 10 * first + second.
TEST_F(LanesApart, ALaneNeverGoesBack) {
  const auto found = results([](Warp* warp) {
    const auto place = shared_element<std::uint32_t>([](unsigned) { return 0; });
    put(warp, 1, place, each([](unsigned) { return 0u; }), 30);
    assay_warp_synced(warp, ~0u);
    put(warp, 1, place, each([](unsigned) { return 1u; }), 31);
    const auto once = look(warp, ~0u, place, 32).value, again = look(warp, ~0u, place, 33).value;
    give(warp, each([&](unsigned lane) { return 10 * once[lane] + again[lane]; }));
  });
  EXPECT_THAT(std::set<std::uint32_t>(found.begin(), found.end()), UnorderedElementsAre(0u, 1u, 11u));
}

TEST_F(LanesApart, NobodyIsGivenWhatNobodyWrote) {
  EXPECT_THAT(results([](Warp* warp) {
                put(warp, ~0u, shared_element<std::uint32_t>(own), each([](unsigned) { return 7u; }), 40);
                const auto read = look(
                    warp, ~0u, shared_element<std::uint32_t>([](unsigned lane) { return lane ^ 1; }), 41);
                EXPECT_EQ(read.undefined, 0u);
                give(warp, read.value);
              }),
              Each(7u));
}

TEST_F(LanesApart, ALaneThatWaitsForAnotherGoesOn) {
  EXPECT_THAT(results([](Warp* warp) {
                const auto flag = shared_element<std::uint32_t>([](unsigned) { return 0; });
                put(warp, 1, flag, each([](unsigned) { return 0u; }), 50);
                assay_warp_synced(warp, ~0u);
                put(warp, 1, flag, each([](unsigned) { return 1u; }), 51);
                Lanes<std::uint32_t> seen{};
                while (std::ranges::count(seen, 0u) != 0) {
                  seen = look(warp, ~0u, flag, 52).value;
                  tick(warp, 53);
                }
                give(warp, seen);
              }),
              Each(1u));
}

} // namespace
} // namespace assay::cpu::testing
