// Guard bands, poison, gaps and what is read off them, on bytes alone.
#include "harness/device/cuda/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace assay::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t capacity = std::size_t{16} << 20;

BufferSpec spec(const std::string& name, BufferRole role, DType dtype, std::vector<std::int64_t> shape) {
  BufferSpec result;
  result.name = name;
  result.role = role;
  result.dtype = dtype;
  result.shape = std::move(shape);
  result.initialized = role == BufferRole::input;
  return result;
}

std::vector<std::byte> counting(std::size_t count) { // floats 0, 1, 2, ...
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  std::vector<std::byte> bytes(count * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class ArenaTest : public ::testing::Test {
 protected:
  BufferId add(const BufferSpec& of, std::span<const std::byte> dense = {}) {
    const auto id = arena.add(of, dense);
    EXPECT_TRUE(id) << to_string(id.error());
    return id ? *id : BufferId{};
  }
  void compose() {
    a.resize(arena.bytes());
    b.resize(arena.bytes());
    arena.compose(first_world, a.data());
    arena.compose(second_world, b.data());
  }
  void write(std::size_t offset, float value) { // by a kernel, in both worlds
    std::memcpy(a.data() + offset, &value, sizeof value);
    std::memcpy(b.data() + offset, &value, sizeof value);
  }
  auto faults() const { return arena.faults(a.data(), first_world); }

  Arena arena{capacity};
  std::vector<std::byte> a, b;
};

TEST_F(ArenaTest, InputsArriveInBothWorldsAndNothingIsWrongBeforeALaunch) {
  const auto bytes = counting(6);
  const BufferId x = add(spec("x", BufferRole::input, DType::f32, {2, 3}), bytes);
  add(spec("y", BufferRole::output, DType::f32, {2, 3}));
  compose();
  std::vector<std::byte> got(bytes.size());
  for (const auto& world : {a, b}) {
    arena.read(x, world.data(), got);
    EXPECT_EQ(got, bytes);
  }
  EXPECT_EQ(arena.address(x) % 256, 0u);
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_THAT(arena.faults(b.data(), second_world), IsEmpty());
  EXPECT_FALSE(arena.difference(a.data(), first_world, b.data(), second_world));
}

TEST_F(ArenaTest, EveryByteDiffersBetweenTheWorlds) {
  for (const PatternPair& pair : {output_poison, scratch_poison, guard_pattern, shared_pattern}) {
    EXPECT_NE(pair.first & 0xff, pair.second & 0xff);
    EXPECT_NE(pair.first >> 8, pair.second >> 8);
  }
}

TEST_F(ArenaTest, AWriteJustPastTheEndNamesTheBuffer) {
  const BufferId y = add(spec("y", BufferRole::output, DType::f32, {5}));
  add(spec("z", BufferRole::output, DType::f32, {5}));
  compose();
  write(arena.address(y) + 5 * sizeof(float) + 4, 1.0f);
  const auto found = faults();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, Kind::out_of_bounds);
  EXPECT_EQ(found[0].buffer, "y");
  EXPECT_THAT(found[0].message,
              HasSubstr("4 bytes behind the end of y were written, the first 4 bytes behind it"));
}

TEST_F(ArenaTest, AWriteBeforeTheStartNamesTheBuffer) {
  add(spec("x", BufferRole::input, DType::f32, {5}), counting(5));
  const BufferId y = add(spec("y", BufferRole::output, DType::f32, {5}));
  compose();
  write(arena.address(y) - 8, 1.0f);
  const auto found = faults();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].buffer, "y");
  EXPECT_THAT(found[0].message,
              HasSubstr("4 bytes before the start of y were written, the first 8 bytes before"));
}

TEST_F(ArenaTest, AnOffsetBufferIsGuardedUpToItsFirstByte) {
  BufferSpec of = spec("x", BufferRole::input, DType::f32, {3});
  of.offset = 4;
  const BufferId x = add(of, counting(3));
  compose();
  EXPECT_EQ(arena.address(x) % 256, 4u);
  EXPECT_THAT(faults(), IsEmpty());
  write(arena.address(x) - 4, 1.0f);
  EXPECT_THAT(faults(), SizeIs(1));
}

TEST_F(ArenaTest, AChangedInputNamesTheElement) {
  const BufferId x = add(spec("x", BufferRole::input, DType::f32, {2, 3}), counting(6));
  compose();
  write(arena.address(x) + 5 * sizeof(float), 9.0f);
  const auto found = faults();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, Kind::input_modified);
  EXPECT_THAT(found[0].message, HasSubstr("x[1, 2]"));
}

TEST_F(ArenaTest, StridedElementsAreScatteredAndTheGapsGuarded) {
  BufferSpec of = spec("x", BufferRole::input, DType::f32, {2, 3});
  of.strides = {8, 2};
  const auto bytes = counting(6);
  const BufferId x = add(of, bytes);
  compose();
  float value = 0;
  std::memcpy(&value, a.data() + arena.address(x) + (8 + 2 * 2) * sizeof(float), sizeof value);
  EXPECT_EQ(value, 5.0f);
  std::vector<std::byte> got(bytes.size());
  arena.read(x, a.data(), got);
  EXPECT_EQ(got, bytes);
  EXPECT_THAT(faults(), IsEmpty());
  write(arena.address(x) + sizeof(float), 1.0f);
  const auto found = faults();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, Kind::out_of_bounds);
  EXPECT_THAT(found[0].message, HasSubstr("between the elements of x"));
}

TEST_F(ArenaTest, UnwrittenIsWhatHoldsThePoisonOfBothWorlds) {
  const BufferId y = add(spec("y", BufferRole::output, DType::i8, {4}));
  compose();
  const std::size_t at = arena.address(y);
  const auto poison = [&](std::size_t i) { return a[at + i]; };
  for (const std::size_t i : {0u, 2u}) { // element 0 is given the very value that the first world's poison is
    a[at + i] = i == 0 ? poison(0) : std::byte{5};
    b[at + i] = a[at + i];
  }
  EXPECT_THAT(arena.unwritten(y, a.data(), first_world, b.data(), second_world, 8), ElementsAre(1, 3));
  EXPECT_THAT(arena.unwritten(y, a.data(), first_world, b.data(), second_world, 1), ElementsAre(1));
  EXPECT_FALSE(arena.difference(a.data(), first_world, b.data(), second_world));
}

TEST_F(ArenaTest, AZeroedOutputIsNeverUnwritten) {
  const BufferId y = add(spec("y", BufferRole::output, DType::f32, {4}));
  arena.fill_zero(y);
  compose();
  EXPECT_THAT(arena.unwritten(y, a.data(), first_world, b.data(), second_world, 8), IsEmpty());
  std::vector<std::byte> got(16, std::byte{1});
  arena.read(y, b.data(), got);
  EXPECT_EQ(got, std::vector<std::byte>(16));
}

TEST_F(ArenaTest, WhatIsCopiedOutOfUnwrittenScratchDiffers) {
  const BufferId y = add(spec("y", BufferRole::output, DType::f32, {4}));
  const BufferId s = add(spec("s", BufferRole::scratch, DType::f32, {4}));
  compose();
  for (auto* world : {&a, &b})
    std::memcpy(world->data() + arena.address(y) + 8, world->data() + arena.address(s), sizeof(float));
  const auto element = arena.difference(a.data(), first_world, b.data(), second_world);
  ASSERT_TRUE(element);
  EXPECT_EQ(arena.element_text(*element), "y[2]");
}

TEST_F(ArenaTest, OneBufferAloneCanHoldTheOtherPattern) {
  add(spec("s", BufferRole::scratch, DType::f32, {4}));
  const BufferId t = add(spec("t", BufferRole::scratch, DType::f32, {4}));
  compose();
  std::vector<std::byte> mixed(arena.bytes());
  arena.compose(World{true, false, false, 1}, mixed.data());
  EXPECT_EQ(std::memcmp(mixed.data(), a.data(), arena.address(t)), 0);
  EXPECT_EQ(std::memcmp(mixed.data() + arena.address(t), b.data() + arena.address(t), 16), 0);
}

TEST_F(ArenaTest, EmptyBuffersAreBandsAlone) {
  const BufferId y = add(spec("y", BufferRole::output, DType::f32, {0, 7}));
  compose();
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_THAT(arena.unwritten(y, a.data(), first_world, b.data(), second_world, 8), IsEmpty());
  write(arena.address(y), 1.0f);
  EXPECT_THAT(faults(), SizeIs(1));
}

TEST_F(ArenaTest, MoreThanTheCapacityIsTheUsersError) {
  const auto one = arena.add(spec("x", BufferRole::scratch, DType::f32, {std::int64_t{1} << 40}), {});
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().kind, ErrorKind::user);
  EXPECT_THAT(one.error().message, HasSubstr("buffer x needs more than 16 MiB"));
  add(spec("y", BufferRole::scratch, DType::f32, {3 << 20}));
  EXPECT_FALSE(arena.add(spec("z", BufferRole::scratch, DType::f32, {3 << 20}), {}));
}

} // namespace
} // namespace assay::cuda
