#include "tests/device/kernel_fixture.h"

#include <malloc.h>

namespace assay::cpu::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Memories : KernelTest {};

void store_one_past(Warp* warp) { // y[i + 1] = 1
  const auto i = [&](unsigned lane) { return global_thread(warp, lane) + 1; };
  store(warp, warp->alive, element<float>(warp, 0, i), each([](unsigned) { return 1.0f; }), 41);
}

TEST_F(Memories, AWriteOnePastTheEndNamesItAll) {
  const BufferId y = buffer("y", BufferRole::output, DType::f32, {8, 8});
  const LaunchReport report = run(store_one_past, {.grid = {2}, .block = {32}}, {y});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::out_of_bounds));
  EXPECT_EQ(report.faults[0].buffer, "y");
  EXPECT_EQ(report.faults[0].place, (Place{"kernel.cu", 41, 0}));
  EXPECT_EQ(report.faults[0].message,
            "out_of_bounds write of 4 bytes at y[64] (4 bytes past the end of y, f32[8,8]) by "
            "thread (31,0,0) of block (1,0,0), kernel.cu:41");
}

TEST_F(Memories, AReadBeforeTheStart) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {4}, std::vector<float>(4));
  const LaunchReport report =
      run([](Warp* warp) { load<float>(warp, 1, element<float>(warp, 0, [](unsigned) { return -2; }), 9); },
          {}, {x});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::out_of_bounds));
  EXPECT_EQ(report.faults[0].message,
            "out_of_bounds read of 4 bytes at x[-2] (8 bytes before the start of x, f32[4]) by "
            "thread (0,0,0) of block (0,0,0), kernel.cu:9");
}

TEST_F(Memories, WildAndNullPointers) {
  const auto read_from = [](Warp* warp) {
    const std::uint64_t address = pointer(warp, 0);
    load<float>(warp, 1, each([&](unsigned) { return address; }), 9);
  };
  for (const std::uint64_t address :
       {std::uint64_t{0}, std::uint64_t{4}, ~std::uint64_t{3}, std::uint64_t{1} << 63,
        std::uint64_t{0x7ff77ff77ff77ff4}, generic_address(first_buffer_slot, 0),
        generic_address(first_buffer_slot + 1, 0), generic_address(4096, 0), generic_address(65536, 0),
        generic_address(shared_slot, 0), generic_address(local_slot, 0), generic_address(param_slot, 64)}) {
    EXPECT_THAT(kinds(run(read_from, {}, {Scalar{address, 8}})), ElementsAre(Kind::out_of_bounds)) << address;
  }
}

// Lanes on both sides of offset 0: the highest address wraps around.
TEST_F(Memories, SomeLanesBeforeTheStartOfSharedMemory) {
  const auto read = [](Warp* warp) {
    load<float>(warp, ~0u, each([](unsigned lane) { return std::uint64_t{lane % 2 == 0 ? 8u : 0u} - 4; }), 9,
                Space::shared);
  };
  EXPECT_THAT(kinds(run(read, {.static_shared = 64}, {})), Contains(Kind::out_of_bounds));
  const auto shaped = [](Warp* warp) {
    const auto addresses = each([](unsigned lane) { return std::uint64_t{lane % 2 == 0 ? 16u : 0u}; });
    AddressShape shape;
    assay_shape(&shape, addresses.data(), ~0u, 4, 64);
    const Access access{at(9), Space::shared, 4, 1, weak};
    Lanes<float> values{};
    Mask undefined = 0;
    assay_load_shaped(warp, &access, &shape, ~std::uint64_t{7}, values.data(), &undefined);
  };
  EXPECT_THAT(kinds(run(shaped, {.static_shared = 64}, {})), Contains(Kind::out_of_bounds));
}

TEST_F(Memories, OffsetsTo32BitAddressesWrapAround) {
  const auto read = [](Warp* warp) {
    const auto addresses = each([](unsigned) { return std::uint64_t{0xfffffff0u}; });
    AddressShape shape;
    assay_shape(&shape, addresses.data(), ~0u, 4, static_cast<std::uint32_t>(pointer(warp, 0)));
    const Access access{at(9), Space::shared, 4, 1, weak};
    Lanes<float> values{};
    Mask undefined = 0;
    assay_load_shaped(warp, &access, &shape, 32, values.data(), &undefined);
  };
  EXPECT_THAT(run(read, {.static_shared = 64}, {Scalar{32, 8}}).faults, IsEmpty());
  EXPECT_THAT(kinds(run(read, {.static_shared = 64}, {Scalar{64, 8}})), ElementsAre(Kind::out_of_bounds));
}

TEST_F(Memories, AccessesAcrossTheEndAreOutside) {
  const BufferId x = filled("x", BufferRole::input, DType::u8, {13}, std::vector<std::uint8_t>(13));
  const auto read = [](Warp* warp) {
    load<std::uint64_t>(warp, 1, element<char>(warp, 0, [](unsigned) { return 8; }), 3);
  };
  EXPECT_THAT(kinds(run(read, {}, {x})), ElementsAre(Kind::out_of_bounds));
}

TEST_F(Memories, MisalignedByTheWholeVector) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {64}, std::vector<float>(64));
  const LaunchReport report = run(
      [](Warp* warp) {
        const Access access{at(12), Space::global, 4, 4, weak};
        const auto addresses = element<float>(warp, 0, [](unsigned lane) { return lane == 3 ? 2 : 0; });
        float values[4 * warp_lanes];
        Mask undefined[4];
        assay_load(warp, warp->alive, &access, addresses.data(), values, undefined);
      },
      {}, {x});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::misaligned));
  EXPECT_EQ(report.faults[0].message,
            "misaligned read of 16 bytes at x[2] (its address is 8 bytes off a multiple of 16) "
            "by thread (3,0,0) of block (0,0,0), kernel.cu:12");
}

template <unsigned Vector, class T>
void check_vector(Engine& engine, CompiledModule&,
                  const std::function<LaunchReport(WarpFunction, BufferId, BufferId)>& go) {
  std::vector<T> values(warp_lanes * Vector);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 + 3);
  const DType type = sizeof(T) == 2   ? DType::f16
                     : sizeof(T) == 1 ? DType::u8
                     : sizeof(T) == 4 ? DType::i32
                                      : DType::i64;
  BufferSpec in{.name = "x",
                .role = BufferRole::input,
                .dtype = type,
                .shape = {static_cast<std::int64_t>(values.size())}};
  BufferSpec out = in;
  out.role = BufferRole::output;
  out.initialized = false;
  const BufferId x = *engine.allocate(in, std::as_bytes(std::span(values)));
  const BufferId y = *engine.allocate(out, {});
  const LaunchReport report = go(
      [](Warp* warp) {
        const Access access{at(12), Space::global, sizeof(T), Vector, weak};
        T copied[Vector * warp_lanes];
        Mask undefined[Vector];
        const auto from = element<T>(warp, 0, [](unsigned lane) { return lane * Vector; });
        const auto to = element<T>(warp, 1, [](unsigned lane) { return lane * Vector; });
        assay_load(warp, 0x7fffffff, &access, from.data(), copied, undefined);
        assay_load(warp, 0xf0000000, &access, from.data(), copied, undefined);
        for (unsigned v = 0; v < Vector; ++v)
          for (unsigned lane = 0; lane < warp_lanes; ++lane)
            EXPECT_EQ(copied[v * warp_lanes + lane], static_cast<T>((lane * Vector + v) * 7 + 3));
        assay_store(warp, 0xffffffff, &access, to.data(), copied, undefined);
      },
      x, y);
  EXPECT_THAT(report.faults, IsEmpty());
  std::vector<T> result(values.size());
  EXPECT_TRUE(engine.read(y, std::as_writable_bytes(std::span(result))).has_value());
  EXPECT_EQ(result, values);
  EXPECT_THAT(engine.unwritten(y, 1), IsEmpty());
}

TEST_F(Memories, VectorsOfEveryWidth) {
  const auto go = [&](WarpFunction f, BufferId x, BufferId y) { return run(f, {}, {x, y}); };
  check_vector<2, std::uint8_t>(engine_, module_, go);
  check_vector<4, std::uint8_t>(engine_, module_, go);
  check_vector<2, std::uint16_t>(engine_, module_, go);
  check_vector<4, std::uint16_t>(engine_, module_, go);
  check_vector<8, std::uint16_t>(engine_, module_, go);
  check_vector<2, std::uint32_t>(engine_, module_, go);
  check_vector<4, std::uint32_t>(engine_, module_, go);
  check_vector<2, std::uint64_t>(engine_, module_, go);
  check_vector<1, std::uint64_t>(engine_, module_, go);
}

TEST_F(Memories, LoadsLeaveOtherLanesAlone) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {32}, std::vector<float>(32, 1.0f));
  run(
      [](Warp* warp) {
        const Access access{at(12), Space::global, 4, 1, weak};
        for (const Mask lanes : {0x1u, 0x80000000u, 0x00ff00ffu, 0x7fffffffu, 0xfffffffeu}) {
          Lanes<float> values;
          values.fill(-1);
          Mask undefined = 0;
          const auto from = element<float>(warp, 0, [](unsigned lane) { return lane; });
          assay_load(warp, lanes, &access, from.data(), values.data(), &undefined);
          for (unsigned lane = 0; lane < warp_lanes; ++lane)
            EXPECT_EQ(values[lane], lanes >> lane & 1 ? 1.0f : -1.0f);
        }
      },
      {}, {x});
}

TEST_F(Memories, GenericAddressesOfSeveralBuffersInOneAccess) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {32}, std::vector<float>(32, 1.0f));
  const BufferId z = filled("z", BufferRole::input, DType::f32, {32}, std::vector<float>(32, 2.0f));
  const auto mixed = [](Warp* warp) {
    const std::uint64_t even = pointer(warp, 0), odd = pointer(warp, 1);
    const auto loaded =
        load<float>(warp, ~0u, each([&](unsigned lane) { return (lane % 2 ? odd : even) + lane * 4; }), 8,
                    Space::generic);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) EXPECT_EQ(loaded.value[lane], lane % 2 ? 2.0f : 1.0f);
  };
  EXPECT_THAT(run(mixed, {}, {x, z}).faults, IsEmpty());
}

TEST_F(Memories, TheOffsetOfAViewIsRespected) {
  const std::vector<float> values{1, 2, 3};
  const BufferId x = *engine_.allocate(
      {.name = "x", .role = BufferRole::input, .dtype = DType::f32, .shape = {3}, .offset = 4},
      std::as_bytes(std::span(values)));
  EXPECT_EQ(engine_.address_of(x) % 256, 4u);
  const auto wide = [](Warp* warp) {
    load<std::uint64_t>(warp, 1, element<float>(warp, 0, [](unsigned) { return 0; }), 3);
  };
  EXPECT_THAT(kinds(run(wide, {}, {x})), ElementsAre(Kind::misaligned));
  const auto before = [](Warp* warp) {
    load<float>(warp, 1, element<float>(warp, 0, [](unsigned) { return -1; }), 3);
  };
  EXPECT_THAT(kinds(run(before, {}, {x})), ElementsAre(Kind::out_of_bounds));
  const auto right = [](Warp* warp) {
    EXPECT_EQ(load<float>(warp, 1, element<float>(warp, 0, [](unsigned) { return 2; }), 3).value[0], 3.0f);
  };
  EXPECT_THAT(run(right, {}, {x}).faults, IsEmpty());
}

TEST_F(Memories, AnInputKeepsItsBits) {
  const BufferId x = filled("x", BufferRole::input, DType::f32, {32}, std::vector<float>(32, 1.0f));
  const auto overwrite = [](Warp* warp) {
    store(warp, ~0u, element<float>(warp, 0, [](unsigned lane) { return lane; }),
          each([](unsigned) { return 2.0f; }), 5);
  };
  const LaunchReport report = run(overwrite, {}, {x});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::input_modified));
  EXPECT_EQ(report.faults[0].buffer, "x");
  EXPECT_EQ(contents<float>(x, 32), std::vector<float>(32, 1.0f));
}

TEST_F(Memories, SharedVariablesAreApart) {
  shared_ = {{"a", 0, 64}, {"b", 80, 64}};
  const auto at_byte = [](Warp* warp) {
    const auto byte = param<std::uint32_t>(warp, 0);
    store(warp, 1, each([&](unsigned) { return std::uint64_t{byte}; }), each([](unsigned) { return 1.0f; }),
          5, Space::shared);
  };
  const auto kinds_at = [&](std::uint64_t byte) {
    return kinds(run(at_byte, {.static_shared = 144}, {Scalar{byte, 4}}));
  };
  EXPECT_THAT(kinds_at(60), IsEmpty());
  EXPECT_THAT(kinds_at(64), ElementsAre(Kind::out_of_bounds));
  EXPECT_THAT(kinds_at(76), ElementsAre(Kind::out_of_bounds));
  EXPECT_THAT(kinds_at(80), IsEmpty());
  EXPECT_THAT(kinds_at(140), IsEmpty());
  EXPECT_THAT(kinds_at(144), ElementsAre(Kind::out_of_bounds));
  EXPECT_THAT(kinds_at(0xfffffffc), ElementsAre(Kind::out_of_bounds));
}

TEST_F(Memories, UnwrittenElementsOfAStridedOutput) {
  const BufferId y = *engine_.allocate({.name = "y",
                                        .role = BufferRole::output,
                                        .dtype = DType::f32,
                                        .shape = {4, 3},
                                        .strides = {5, 1},
                                        .initialized = false},
                                       {});
  EXPECT_EQ(engine_.unwritten(y, 100).size(), 12u);
  const auto write = [](Warp* warp) { // rows 0 and 2
    store(warp, 0x7, element<float>(warp, 0, [](unsigned lane) { return lane; }),
          each([](unsigned) { return 1.0f; }), 5);
    store(warp, 0x7, element<float>(warp, 0, [](unsigned lane) { return 10 + lane; }),
          each([](unsigned) { return 2.0f; }), 6);
  };
  EXPECT_THAT(run(write, {}, {y}).faults, IsEmpty());
  EXPECT_THAT(engine_.unwritten(y, 100), ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_THAT(engine_.unwritten(y, 2), ElementsAre(3, 4));
  const std::vector<float> dense = contents<float>(y, 12);
  EXPECT_THAT(std::vector(dense.begin() + 6, dense.begin() + 9), ElementsAre(2, 2, 2));
}

TEST_F(Memories, LocalFramesBelongToEachLane) {
  const auto frames = [](Warp* warp) {
    const std::uint32_t outer = assay_enter_local(warp, 64, 8);
    const auto cell = each([&](unsigned lane) { return std::uint64_t{outer} + lane % 4 * 8; });
    store(warp, ~0u, cell, each([](unsigned lane) { return std::uint64_t{lane} << 40; }), 5, Space::local);
    const std::uint32_t inner = assay_enter_local(warp, 8000, 16);
    EXPECT_EQ(inner % 16, 0u);
    EXPECT_GE(inner, outer + 64);
    const auto back = load<std::uint64_t>(
        warp, ~0u, each([&](unsigned lane) { return generic_address(local_slot, cell[lane]); }), 6,
        Space::generic);
    for (unsigned lane = 0; lane < warp_lanes; ++lane) EXPECT_EQ(back.value[lane], std::uint64_t{lane} << 40);
    EXPECT_EQ(back.undefined, 0u);
    EXPECT_EQ(load<float>(warp, 5, each([&](unsigned) { return std::uint64_t{inner} + 40; }), 7, Space::local)
                  .undefined,
              5u);
    assay_leave_local(warp, inner);
    load<float>(warp, 1, each([&](unsigned) { return std::uint64_t{inner} + 40; }), 8, Space::local);
  };
  const LaunchReport report = run(frames, {}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::out_of_bounds));
  EXPECT_EQ(report.faults[0].buffer, "local");
  EXPECT_EQ(report.faults[0].place.line, 8);
}

TEST_F(Memories, AbsurdBuffersAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_FALSE(engine_.allocate({.name = "x", .shape = {huge, huge}}, {}).has_value());
  EXPECT_FALSE(engine_.allocate({.name = "x", .shape = {huge}}, {}).has_value());
  EXPECT_FALSE(engine_.allocate({.name = "x", .shape = {-1}}, {}).has_value());
  EXPECT_FALSE(engine_.allocate({.name = "x", .shape = {2}, .strides = {-1}}, {}).has_value());
  EXPECT_TRUE(engine_.allocate({.name = "x", .shape = {0, huge}}, {}).has_value());
}

std::size_t bytes_in_use() {
  const struct mallinfo2 about = ::mallinfo2();
  return about.uordblks + about.hblkhd;
}

// Its buffers, the records of who wrote and read them, and the segments of its 32,768 warps.
TEST_F(Memories, WhatALargeCaseNeededIsGivenBack) {
  const auto run_one = [&](std::int64_t elements) {
    engine_.release_all();
    const BufferId y = buffer("y", BufferRole::output, DType::f32, {elements});
    const auto write = [](Warp* warp) {
      store(warp, warp->alive, element<float>(warp, 0, [&](unsigned l) { return global_thread(warp, l); }),
            each([](unsigned) { return 1.0f; }), 41);
    };
    EXPECT_THAT(
        run(write, {.grid = {static_cast<std::uint64_t>(elements / 256)}, .block = {256}}, {y}).faults,
        IsEmpty());
  };
  run_one(256);
  engine_.release_all();
  const std::size_t before = bytes_in_use();
  run_one(1 << 20);
  EXPECT_GT(bytes_in_use(), before + (std::size_t{12} << 20)) << "or this shows nothing";
  engine_.release_all();
  EXPECT_LT(bytes_in_use(), before + (std::size_t{1} << 20));
  run_one(256);
}

} // namespace
} // namespace assay::cpu::testing
