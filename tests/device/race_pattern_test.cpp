// The race check takes a warp's access as a whole where its addresses have a pattern. Whatever the pattern,
// it must find what it finds when every lane comes alone.
#include "tests/device/kernel_fixture.h"

#include <random>

namespace assay::cpu::testing {
namespace {

using ::testing::ElementsAreArray;

constexpr std::uint32_t window = 1024; // bytes of shared memory

struct Step {
  std::uint32_t barrier = 0; // its line, else an access
  bool store = false, shaped = false;
  std::uint8_t bytes = 4, vector = 1;
  Mask lanes = ~0u;
  std::uint64_t offset = 0;
  Lanes<std::uint64_t> addresses{};
};

struct Program {
  std::vector<std::vector<Step>> warps;
  bool lane_by_lane = false;
} program;

void access(Warp* warp, const Step& step, Mask lanes, std::uint32_t line) {
  const Access access{at(line), Space::shared, step.bytes, step.vector, weak};
  alignas(64) std::array<std::uint8_t, std::size_t{warp_lanes} * 32> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint8_t>(i * 7 + line);
  Mask undefined[8] = {};
  if (step.shaped) {
    AddressShape shape;
    assay_shape(&shape, step.addresses.data(), lanes, std::uint32_t{step.bytes} * step.vector, 64);
    if (step.store)
      assay_store_shaped(warp, &access, &shape, step.offset, values.data(), undefined);
    else
      assay_load_shaped(warp, &access, &shape, step.offset, values.data(), undefined);
    return;
  }
  const auto addresses = each([&](unsigned lane) { return step.addresses[lane] + step.offset; });
  if (step.store)
    assay_store(warp, lanes, &access, addresses.data(), values.data(), undefined);
  else
    assay_load(warp, lanes, &access, addresses.data(), values.data(), undefined);
}

void run_program(Warp* warp) {
  std::uint32_t line = 100;
  for (const Step& step : program.warps[warp->warp_index]) {
    ++line;
    if (step.barrier != 0)
      barrier(warp, step.barrier);
    else if (!program.lane_by_lane)
      access(warp, step, step.lanes, line);
    else
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        if ((step.lanes >> lane & 1) != 0) access(warp, step, 1u << lane, line);
  }
}

enum : std::uint32_t { consecutive, one_place, octets, halves, scattered, patterns };

Step drawn(std::mt19937& random, std::uint32_t pattern) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Step step;
  step.store = below(4) == 0;
  step.shaped = below(2) == 0;
  step.bytes = static_cast<std::uint8_t>(1u << below(5));
  step.vector = step.bytes <= 4 && below(3) == 0 ? 4 : 1;
  const std::uint32_t size = std::uint32_t{step.bytes} * step.vector;
  if (below(3) == 0) step.lanes = below(2) == 0 ? 0xffffu : static_cast<Mask>(random()) | 1;
  const std::uint32_t run[] = {32, 1, 8, 16, 1};    // lanes in a row
  const std::uint32_t again[] = {32, 32, 8, 16, 1}; // lanes after which another run begins
  bool in_row = true;
  std::uint32_t begin = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (lane % again[pattern] == 0) {
      begin = below(window / size - run[pattern] + 1);
      in_row = pattern == consecutive || (run[pattern] > 1 && (step.store || below(2) == 0));
    }
    step.addresses[lane] = std::uint64_t{begin + (in_row ? lane % run[pattern] : 0)} * size;
  }
  return step;
}

struct RacePatterns : KernelTest {
  std::vector<std::string> found(std::uint64_t seed) {
    std::vector<std::string> places;
    for (const Fault& fault :
         run(run_program, {.block = {96}, .static_shared = window, .seed = seed}, {}).faults)
      places.push_back(fmt::format("{} {} {}", static_cast<int>(fault.kind), fault.place.line, fault.note));
    std::ranges::sort(places);
    return places;
  }
};

TEST_F(RacePatterns, FindWhatLanesOneByOneFind) {
  std::mt19937 random(20);
  int racing = 0, clean = 0;
  for (int round = 0; round < 3000; ++round) {
    program.warps.assign(3, {});
    for (unsigned phase = 0; phase < 3; ++phase) {
      if (phase > 0)
        for (auto& steps : program.warps) steps.push_back({.barrier = phase});
      const bool writes = phase != 1;
      if (round % 2 == 0 && writes) { // one warp writes, all read: right programs
        Step step = drawn(random, consecutive);
        step.store = true;
        program.warps[random() % 3].push_back(step);
        continue;
      }
      for (unsigned k = 0; k < 3; ++k)
        for (auto& steps : program.warps) {
          steps.push_back(drawn(random, random() % patterns));
          if (round % 2 == 0) steps.back().store = false;
        }
    }
    program.lane_by_lane = true;
    const auto expected = found(static_cast<std::uint64_t>(round));
    program.lane_by_lane = false;
    ASSERT_THAT(found(static_cast<std::uint64_t>(round)), ElementsAreArray(expected)) << "round " << round;
    (expected.empty() ? clean : racing)++;
  }
  EXPECT_GT(racing, 100);
  EXPECT_GT(clean, 100);
}

} // namespace
} // namespace assay::cpu::testing
