#include "tests/device/kernel_fixture.h"

#include <bit>

namespace assay::cpu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Atomics : KernelTest {
  // One lane, one atomic on a place that holds `before`; returns what it holds afterwards. The old value is
  // checked.
  template <class T>
  T once(AtomicOp op, ValueType type, T before, T b, T c = {}, Space space = Space::global) {
    static AtomicAccess access;
    static T operand, swap, old_seen, after;
    static T start;
    access = {{at(5), space, sizeof(T), 1, relaxed}, op, type, true};
    operand = b;
    swap = c;
    start = before;
    const BufferId place = buffer("place", BufferRole::scratch, DType::u8, {sizeof(T)}, true);
    EXPECT_THAT(run(
                    [](Warp* warp) {
                      const bool shared = access.access.space == Space::shared;
                      const std::uint64_t base = shared ? 0 : pointer(warp, 0);
                      const Access plain{at(4), access.access.space, sizeof(T), 1, weak};
                      Lanes<std::uint64_t> addresses;
                      addresses.fill(base);
                      alignas(16) Lanes<T> values, operands, swaps, old;
                      values.fill(start);
                      operands.fill(operand);
                      swaps.fill(swap);
                      Mask undefined = 0;
                      assay_store(warp, 1, &plain, addresses.data(), values.data(), &undefined);
                      assay_atomic(warp, 1, &access, addresses.data(), operands.data(),
                                   access.op == AtomicOp::cas ? swaps.data() : nullptr, old.data(),
                                   &undefined);
                      old_seen = old[0];
                      assay_load(warp, 1, &plain, addresses.data(), values.data(), &undefined);
                      after = values[0];
                    },
                    {.static_shared = 64}, {place})
                    .faults,
                IsEmpty());
    // NOLINTNEXTLINE(bugprone-raw-memory-call-on-non-trivial-type): bits
    EXPECT_EQ(std::memcmp(&old_seen, &start, sizeof(T)), 0);
    return after;
  }
  float add_floats(float a, float b, Space space) {
    return std::bit_cast<float>(once<std::uint32_t>(AtomicOp::add, ValueType::f32,
                                                    std::bit_cast<std::uint32_t>(a),
                                                    std::bit_cast<std::uint32_t>(b), 0, space));
  }
};

TEST_F(Atomics, Integers) {
  using enum AtomicOp;
  using enum ValueType;
  EXPECT_EQ(once<std::uint32_t>(add, u32, 0xffffffff, 2), 1u);
  EXPECT_EQ(once<std::uint32_t>(exch, b32, 1, 2), 2u);
  EXPECT_EQ(once<std::uint32_t>(cas, b32, 7, 7, 9), 9u);
  EXPECT_EQ(once<std::uint32_t>(cas, b32, 7, 6, 9), 7u);
  EXPECT_EQ(once<std::uint32_t>(and_, b32, 12, 10), 8u);
  EXPECT_EQ(once<std::uint32_t>(or_, b32, 12, 10), 14u);
  EXPECT_EQ(once<std::uint32_t>(xor_, b32, 12, 10), 6u);
  EXPECT_EQ(once<std::uint32_t>(min, s32, 1, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(once<std::uint32_t>(min, u32, 1, 0xffffffff), 1u);
  EXPECT_EQ(once<std::uint32_t>(max, s32, 1, 0xffffffff), 1u);
  EXPECT_EQ(once<std::uint32_t>(max, u32, 1, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(once<std::uint32_t>(inc, u32, 4, 5), 5u);
  EXPECT_EQ(once<std::uint32_t>(inc, u32, 5, 5), 0u);
  EXPECT_EQ(once<std::uint32_t>(dec, u32, 0, 5), 5u);
  EXPECT_EQ(once<std::uint32_t>(dec, u32, 6, 5), 5u);
  EXPECT_EQ(once<std::uint32_t>(dec, u32, 5, 5), 4u);
  EXPECT_EQ(once<std::uint64_t>(add, u64, 1, ~std::uint64_t{0} - 1), ~std::uint64_t{0});
  EXPECT_EQ(once<std::uint64_t>(min, s64, 1, ~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(once<std::uint64_t>(cas, b64, 5, 5, std::uint64_t{1} << 60), std::uint64_t{1} << 60);
  EXPECT_EQ(once<std::uint16_t>(cas, b16, 5, 5, 77), 77u);
}

TEST_F(Atomics, FloatsFlushInGlobalMemoryOnly) {
  EXPECT_EQ(add_floats(1.5f, 2.25f, Space::global), 3.75f);
  EXPECT_EQ(add_floats(0x1p-140f, 0x1p-141f, Space::global), 0.0f);
  EXPECT_EQ(add_floats(0x1p-140f, 0x1p-141f, Space::shared), 0x1.8p-140f);
  EXPECT_EQ(add_floats(0x1.8p-126f, -0x1p-126f, Space::global), 0.0f); // the result is subnormal
  EXPECT_EQ(add_floats(0x1.8p-126f, -0x1p-126f, Space::shared), 0x1p-127f);
  EXPECT_TRUE(std::signbit(add_floats(-0.0f, -0x1p-140f, Space::global)));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(add_floats(INFINITY, -INFINITY, Space::global)), 0x7fffffffu);
  EXPECT_EQ(once<std::uint64_t>(AtomicOp::add, ValueType::f64, std::bit_cast<std::uint64_t>(1.0),
                                std::bit_cast<std::uint64_t>(0x1p-1074)),
            std::bit_cast<std::uint64_t>(1.0));
}

TEST_F(Atomics, Halves) {
  using enum ValueType;
  EXPECT_EQ(once<std::uint32_t>(AtomicOp::add, f16x2, 0x3c00'3c00, 0x4000'3c00), 0x4200'4000u); // 1+2 | 1+1
  EXPECT_EQ(once<std::uint32_t>(AtomicOp::add, bf16x2, 0x3f80'0001, 0x4000'0001),
            0x4040'0002u);                                                    // subnormals kept
  EXPECT_EQ(once<std::uint16_t>(AtomicOp::add, f16, 0x3c00, 0x0c00), 0x3c00); // 1 + 2^-12: below half an ulp
  EXPECT_EQ(once<std::uint16_t>(AtomicOp::add, bf16, 0x3f81, 0x3b80),
            0x3f82); // 1.0078125 + 2^-8: a tie, to even
  EXPECT_EQ(once<std::uint32_t>(AtomicOp::max, f16x2, 0x7e00'8000, 0x3c00'0000), 0x3c00'0000u);
  EXPECT_EQ(once<std::uint32_t>(AtomicOp::min, f16x2, 0xbc00'8000, 0x3c00'0000), 0xbc00'8000u);
}

struct alignas(16) Wide {
  std::uint64_t low, high;
  bool operator==(const Wide&) const = default;
};
TEST_F(Atomics, OneHundredAndTwentyEightBits) {
  EXPECT_EQ(once<Wide>(AtomicOp::cas, ValueType::b128, {1, 2}, {1, 2}, {3, 4}), (Wide{3, 4}));
  EXPECT_EQ(once<Wide>(AtomicOp::cas, ValueType::b128, {1, 2}, {1, 3}, {3, 4}), (Wide{1, 2}));
  EXPECT_EQ(once<Wide>(AtomicOp::exch, ValueType::b128, {1, 2}, {5, 6}), (Wide{5, 6}));
}

TEST_F(Atomics, LanesTakeTurns) {
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const auto count = [](Warp* warp) {
    const AtomicAccess access{{at(9), Space::global, 4, 1, relaxed}, AtomicOp::add, ValueType::u32, false};
    const auto addresses = element<int>(warp, 0, [](unsigned) { return 0; });
    const auto one = each([](unsigned) { return 1u; });
    Lanes<std::uint32_t> old;
    Mask undefined = 0;
    assay_atomic(warp, ~0u, &access, addresses.data(), one.data(), nullptr, old.data(), &undefined);
    for (unsigned lane = 1; lane < warp_lanes; ++lane) EXPECT_EQ(old[lane], old[0] + lane);
    assay_atomic(warp, 0xff, &access, addresses.data(), one.data(), nullptr, nullptr, &undefined);
  };
  EXPECT_THAT(run(count, {.grid = {3}, .block = {64}}, {counter}).faults, IsEmpty());
  EXPECT_EQ(contents<int>(counter, 1)[0], 3 * 2 * 40);
}

TEST_F(Atomics, OnUndefinedMemoryPassItOn) {
  const BufferId sum = buffer("sum", BufferRole::output, DType::f32, {1});
  const auto add = [](Warp* warp) {
    const AtomicAccess access{{at(12), Space::global, 4, 1, relaxed}, AtomicOp::add, ValueType::f32, false};
    const auto addresses = element<float>(warp, 0, [](unsigned) { return 0; });
    const auto one = each([](unsigned) { return 1.0f; });
    Mask undefined = 0;
    assay_atomic(warp, 1, &access, addresses.data(), one.data(), nullptr, nullptr, &undefined);
  };
  const LaunchReport report = run(add, {}, {sum});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::uninitialized)); // nobody cleared the sum
  engine_.fill_zero(sum);
  EXPECT_THAT(run(add, {}, {sum}).faults, IsEmpty());
  EXPECT_EQ(contents<float>(sum, 1)[0], 1.0f);
}

TEST_F(Atomics, OutsideAndMisaligned) {
  const BufferId y = buffer("y", BufferRole::scratch, DType::i32, {4}, true);
  const auto at_byte = [](Warp* warp) {
    const AtomicAccess access{{at(14), Space::global, 4, 1, relaxed}, AtomicOp::add, ValueType::u32, false};
    const auto byte = param<std::uint32_t>(warp, 8);
    const auto addresses = element<char>(warp, 0, [&](unsigned) { return byte; });
    const auto one = each([](unsigned) { return 1u; });
    Mask undefined = 0;
    assay_atomic(warp, 1, &access, addresses.data(), one.data(), nullptr, nullptr, &undefined);
  };
  EXPECT_THAT(kinds(run(at_byte, {}, {y, Scalar{16, 4}})), ElementsAre(Kind::out_of_bounds));
  EXPECT_THAT(kinds(run(at_byte, {}, {y, Scalar{2, 4}})), ElementsAre(Kind::misaligned));
  EXPECT_THAT(kinds(run(at_byte, {}, {y, Scalar{12, 4}})), IsEmpty());
}

// A lock around a plain counter: taken by compare-and-swap, given back by an exchange, fences inside.
TEST_F(Atomics, ASpinLockIsFairAndInOrder) {
  const BufferId lock = buffer("lock", BufferRole::scratch, DType::i32, {1}, true);
  const BufferId counter = buffer("counter", BufferRole::scratch, DType::i32, {1}, true);
  const auto locked = [](Warp* warp) {
    const AtomicAccess take{{at(20), Space::global, 4, 1, relaxed}, AtomicOp::cas, ValueType::b32, false};
    const AtomicAccess give{{at(21), Space::global, 4, 1, relaxed}, AtomicOp::exch, ValueType::b32, false};
    const auto zero = [](unsigned) { return 0; };
    const auto place = element<int>(warp, 0, zero);
    const Lanes<std::uint32_t> nought{}, one = each([](unsigned) { return 1u; });
    Lanes<std::uint32_t> old{};
    Mask undefined = 0;
    do {
      tick(warp);
      assay_atomic(warp, 1, &take, place.data(), nought.data(), one.data(), old.data(), &undefined);
    } while (old[0]);
    assay_fence(warp, 1, 1);
    auto value = load<std::uint32_t>(warp, 1, element<int>(warp, 1, zero), 22);
    for (int i = 0; i < 5000; ++i) tick(warp); // others run meanwhile
    ++value.value[0];
    store(warp, 1, element<int>(warp, 1, zero), value.value, 23);
    assay_fence(warp, 1, 1);
    assay_atomic(warp, 1, &give, place.data(), nought.data(), nullptr, old.data(), &undefined);
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    engine_.fill_zero(counter);
    const LaunchReport report = run(locked, {.grid = {4}, .block = {128}, .seed = seed}, {lock, counter});
    EXPECT_THAT(report.faults, IsEmpty()) << report.faults[0].message;
    EXPECT_EQ(contents<int>(counter, 1)[0], 16);
  }
}

} // namespace
} // namespace assay::cpu::testing
