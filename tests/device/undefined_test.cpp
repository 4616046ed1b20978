#include "tests/device/kernel_fixture.h"

namespace assay::cpu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Undefined : KernelTest {};

const auto own = [](unsigned lane) { return lane; };

TEST_F(Undefined, LoadsSayWhichLanesNobodyWrote) {
  const auto kernel = [](Warp* warp) {
    store(warp, 0x0000ffff, shared_element<float>(own), each([](unsigned) { return 1.0f; }), 10,
          Space::shared);
    assay_warp_synced(warp, ~0u);
    EXPECT_EQ(load<float>(warp, ~0u, shared_element<float>(own), 11, Space::shared).undefined, 0xffff0000u);
    EXPECT_EQ(load<float>(warp, ~0u, shared_element<float>([](unsigned lane) { return 31 - lane; }), 12,
                          Space::shared)
                  .undefined,
              0x0000ffffu);
    EXPECT_EQ(load<float>(warp, 0x00010001, shared_element<float>(own), 13, Space::shared).undefined,
              0x00010000u);
    EXPECT_EQ(load<float>(warp, ~0u, shared_element<float>([](unsigned) { return 20; }), 14, Space::shared)
                  .undefined,
              ~0u);
    EXPECT_EQ(load<std::uint16_t>(
                  warp, ~0u, shared_element<std::uint16_t>([](unsigned lane) { return 31 + (lane & 1); }), 15,
                  Space::shared)
                  .undefined,
              0xaaaaaaaau);
  };
  EXPECT_THAT(run(kernel, {.static_shared = 128}, {}).faults, IsEmpty()); // loading alone is no use
}

TEST_F(Undefined, SharedMemoryStartsPoisonedInEveryBlock) {
  const auto kernel = [](Warp* warp) {
    const auto loaded = load<float>(warp, ~0u, shared_element<float>(own), 20, Space::shared);
    EXPECT_EQ(loaded.undefined, ~0u);
    for (const float value : loaded.value) EXPECT_NE(value, value);
    store(warp, ~0u, shared_element<float>(own), each([](unsigned) { return 1.0f; }), 21, Space::shared);
  };
  run(kernel, {.grid = {4}, .static_shared = 128}, {});
}

TEST_F(Undefined, UseNamesWhereTheValueCameFrom) {
  const BufferId partial = buffer("partial", BufferRole::scratch, DType::f32, {4, 8});
  const auto kernel = [](Warp* warp) {
    const auto loaded = load<float>(warp, 1u << 13, element<float>(warp, 0, own), 30);
    EXPECT_EQ(loaded.undefined, 1u << 13);
    const Site site = at(31);
    assay_undefined_used(warp, loaded.undefined, &site);
  };
  const LaunchReport report = run(kernel, {}, {partial});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::uninitialized));
  EXPECT_EQ(report.faults[0].buffer, "partial");
  EXPECT_EQ(report.faults[0].place.line, 31);
  EXPECT_EQ(report.faults[0].message,
            "uninitialized: a value from partial[1,5], which nobody wrote (read at kernel.cu:30) "
            "decides an address, a branch or an exchange by thread (13,0,0) of block (0,0,0), "
            "kernel.cu:31");
}

// Copies shared memory that nobody wrote into the output: masks travel with the store.
void copy_to_output(Warp* warp) {
  const auto loaded = load<float>(warp, 0xf, shared_element<float>(own), 40, Space::shared);
  store(warp, ~0u, element<float>(warp, 0, own), loaded.value, 41, Space::global, weak, loaded.undefined);
}

TEST_F(Undefined, AnOutputThatHoldsItIsReported) {
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {32});
  const LaunchReport report = run(copy_to_output, {.static_shared = 128}, {y});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::uninitialized));
  EXPECT_EQ(report.faults[0].buffer, "y");
  EXPECT_EQ(report.faults[0].place.line, 41);
  EXPECT_THAT(report.faults[0].message,
              HasSubstr("y[0] of y, f32[32] holds a value that derives from memory that nobody "
                        "wrote (4 such elements)"));
  EXPECT_THAT(engine_.unwritten(y, 32), IsEmpty()); // written, if with nothing
}

TEST_F(Undefined, AnOutputThatIsOverwrittenIsNot) {
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {32});
  const auto kernel = [](Warp* warp) {
    copy_to_output(warp);
    store(warp, 0xff, element<float>(warp, 0, own), each([](unsigned) { return 2.0f; }), 45);
  };
  EXPECT_THAT(run(kernel, {.static_shared = 128}, {y}).faults, IsEmpty());
}

TEST_F(Undefined, ScratchCarriesItFromLaunchToLaunch) {
  const BufferId scratch = buffer("scratch", BufferRole::scratch, DType::f32, {32}, true);
  EXPECT_THAT(run(copy_to_output, {.static_shared = 128}, {scratch}).faults, IsEmpty());
  const auto second = [](Warp* warp) {
    EXPECT_EQ(load<float>(warp, ~0u, element<float>(warp, 0, own), 50).undefined, 0xfu);
  };
  EXPECT_THAT(run(second, {}, {scratch}).faults, IsEmpty());
}

TEST_F(Undefined, GapsOfAStridedInputAreNobodys) {
  const std::vector<float> values(6, 1.0f);
  const BufferId x = *engine_.allocate(
      {.name = "x", .role = BufferRole::input, .dtype = DType::f32, .shape = {2, 3}, .strides = {8, 1}},
      std::as_bytes(std::span(values)));
  const auto kernel = [](Warp* warp) {
    EXPECT_EQ(load<float>(warp, 0x7ff, element<float>(warp, 0, own), 60).undefined, 0x0f8u);
  };
  EXPECT_THAT(run(kernel, {}, {x}).faults, IsEmpty());
}

TEST_F(Undefined, FillZeroDefines) {
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {32});
  engine_.fill_zero(y);
  EXPECT_THAT(engine_.unwritten(y, 10), IsEmpty());
  run(
      [](Warp* warp) {
        const auto loaded = load<float>(warp, ~0u, element<float>(warp, 0, own), 70);
        EXPECT_EQ(loaded.undefined, 0u);
        EXPECT_EQ(loaded.value[5], 0.0f);
      },
      {}, {y});
}

// The undefined bytes, as a mask, of what an instruction makes of operands of which bytes 0 and 1 of the
// first are undefined.
unsigned after(Warp* warp, BitRule rule, std::array<std::uint32_t, 3> operands, std::uint32_t result) {
  Lanes<std::uint32_t> values[3], results{};
  const void* places[3];
  for (std::size_t k = 0; k < 3; ++k) {
    values[k].fill(operands[k]);
    places[k] = values[k].data();
  }
  results.fill(result);
  const Mask low_half[] = {1, 0};
  const Lanes<std::uint64_t> first = each([&](unsigned) { return std::uint64_t{operands[0]}; });
  assay_note_partial(warp, 1, first.data(), 4, 2, low_half);
  const Mask undefined[3] = {1, 0, 0};
  if (assay_bits_undefined(warp, 1, &rule, places, undefined, results.data()) == 0) return 0;
  unsigned bytes = 0;
  const Lanes<std::uint64_t> wide = each([&](unsigned) { return std::uint64_t{result}; });
  for (unsigned byte = 0; byte < 4; ++byte)
    bytes |= assay_part_undefined(warp, 1, wide.data(), 4, byte, 1) << byte;
  return bytes;
}

TEST_F(Undefined, InstructionsOnBitsAndPartsKeepThemApart) {
  const auto kernel = [](Warp* warp) {
    constexpr std::uint32_t x = 0x12347ff7;
    const auto expect = [&](BitRule rule, std::uint32_t b, std::uint32_t c, std::uint32_t result,
                            unsigned bytes) {
      EXPECT_EQ(after(warp, rule, {x, b, c}, result), bytes) << static_cast<int>(rule.op) << " " << b;
    };
    expect({BitOp::parts, 4, 2, 2}, 0x00010001, 0, 0x12357ff8, 0x3);
    expect({BitOp::parts, 4, 2, 4}, 0x00010001, 0, 0x12357ff9, 0xf);
    expect({BitOp::table, 4, 2, 0xc0}, 0xffff0000, 0, 0x12340000, 0x0);
    expect({BitOp::table, 4, 2, 0xc0}, 0xffffff00, 0, 0x12347f00, 0x2);
    expect({BitOp::table, 4, 2, 0xfc}, 0x000000ff, 0, 0x12347fff, 0x2);
    expect({BitOp::table, 4, 2, 0x3c}, 0x0000ffff, 0, 0x12348008, 0x3);
    expect({BitOp::table, 4, 3, 0xca}, 0, 0x55, 0x44, 0x1); // a ? b : c, which differ in bits 0 to 6
    expect({BitOp::shift_left, 4, 2, 0}, 16, 0, 0x7ff70000, 0xc);
    expect({BitOp::shift_left, 4, 2, 0}, 12, 0, 0x47ff7000, 0xe);
    expect({BitOp::shift_left, 4, 2, 0}, 32, 0, 0, 0x0);
    expect({BitOp::shift_right, 4, 2, 0}, 16, 0, 0x1234, 0x0);
    expect({BitOp::shift_right, 4, 2, 0}, 4, 0, 0x012347ff, 0x3);
    expect({BitOp::shift_right_sign, 4, 2, 0}, 8, 0, 0x0012347f, 0x1);
    expect({BitOp::permute, 4, 3, 0}, 0xaabbccdd, 0x5432, 0xccdd1234, 0x0);
    expect({BitOp::permute, 4, 3, 0}, 0xaabbccdd, 0x2154, 0x347fccdd, 0x4);
  };
  EXPECT_THAT(run(kernel, {}, {}).faults, IsEmpty());
}

TEST_F(Undefined, UnwrittenIsFoundWithTheChecksOff) {
  engine_.set_checks({.races = false, .undefined = false});
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {4});
  run(
      [](Warp* warp) {
        store(warp, 5, element<float>(warp, 0, own), each([](unsigned) { return 1.0f; }), 80);
      },
      {}, {y});
  EXPECT_THAT(engine_.unwritten(y, 10), ElementsAre(1, 3));
}

} // namespace
} // namespace assay::cpu::testing
