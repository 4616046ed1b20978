#include "tests/device/kernel_fixture.h"

#include <bit>

namespace assay::cpu::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Events : KernelTest {
  BufferId text(const std::string& name, const std::string& bytes) {
    std::vector<char> stored(bytes.begin(), bytes.end());
    stored.push_back(0);
    return filled(name, BufferRole::input, DType::i8, {static_cast<std::int64_t>(stored.size())}, stored);
  }
};

TEST_F(Events, Trap) {
  const LaunchReport report = run(
      [](Warp* warp) {
        const Site site = at(33);
        if (warp->warp_index == 1) assay_trap(warp, 4, &site);
      },
      {.block = {64}}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::trap));
  EXPECT_EQ(report.faults[0].message, "trap: thread (34,0,0) of block (0,0,0) executed a trap, kernel.cu:33");
}

TEST_F(Events, AnAssertionSpeaks) {
  const BufferId message = text("message", "i < n"), file = text("file", "k.cu"),
                 function = text("function", "kernel");
  const LaunchReport report = run(
      [](Warp* warp) {
        const Site site = at(12);
        Lanes<std::uint64_t> a, b, c;
        a.fill(pointer(warp, 0)), b.fill(pointer(warp, 1)), c.fill(pointer(warp, 2));
        const auto line = each([](unsigned) { return 77u; });
        assay_assert_fail(warp, 2, &site, a.data(), b.data(), line.data(), c.data());
      },
      {}, {message, file, function});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::trap));
  EXPECT_EQ(report.faults[0].message,
            "trap: assertion \"i < n\" failed in kernel (k.cu:77) by thread (1,0,0) of block "
            "(0,0,0), kernel.cu:12");
}

TEST_F(Events, DivergedLanesAreABarrierFault) {
  const LaunchReport report = run(
      [](Warp* warp) {
        const Site site = at(13);
        assay_diverged(warp, 0x0000ffff, 0xffff0000, &site);
      },
      {}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::barrier));
  EXPECT_THAT(report.faults[0].message,
              HasSubstr("lanes 0x0000ffff of warp 0 of block (0,0,0) wait for lanes 0xffff0000"));
}

TEST_F(Events, PrintfWritesWhatCudaWould) {
  std::string out;
  engine_.set_print_sink(&out);
  const BufferId format = text("format", "%d %5.2f|%-4u|%s %c %lld %x%%\n"), word = text("word", "word");
  run(
      [](Warp* warp) {
        const std::uint32_t frame = assay_enter_local(warp, 64, 8);
        const auto put = [&](std::uint32_t offset, auto value) {
          store(warp, 3, each([&](unsigned) { return std::uint64_t{frame} + offset; }),
                each([&](unsigned) { return value; }), 40, Space::local);
        };
        put(0, std::int32_t{-7});
        put(8, 3.14159);
        put(16, std::uint32_t{9});
        put(24, pointer(warp, 1));
        put(32, std::uint32_t{'z'});
        put(40, std::int64_t{-1} << 40);
        put(48, 0xbeefu);
        Lanes<std::uint64_t> formats, args;
        formats.fill(pointer(warp, 0));
        args.fill(generic_address(local_slot, frame));
        Lanes<std::uint32_t> result{};
        const Site site = at(41);
        assay_vprintf(warp, 3, &site, formats.data(), args.data(), result.data());
        EXPECT_EQ(result[1], 7u);
        assay_leave_local(warp, frame);
      },
      {}, {format, word});
  const std::string line = "-7  3.14|9   |word z -1099511627776 beef%\n";
  EXPECT_EQ(out, line + line);
}

TEST_F(Events, PrintfIsBoundedAndSafe) {
  std::string out;
  engine_.set_print_sink(&out);
  const BufferId format = text("format", "%999d%*d%n%"), wild = text("wild", "%s");
  run(
      [](Warp* warp) {
        Lanes<std::uint64_t> formats, args;
        Lanes<std::uint32_t> result{};
        const Site site = at(42);
        formats.fill(pointer(warp, 0));
        args.fill(0); // no arguments to read
        assay_vprintf(warp, 1, &site, formats.data(), args.data(), result.data());
        EXPECT_EQ(result[0], ~0u);
        formats.fill(12345);
        assay_vprintf(warp, 1, &site, formats.data(), args.data(), result.data());
        formats.fill(pointer(warp, 0));
        args.fill(pointer(warp, 0));
        for (int i = 0; i < 20000; ++i)
          assay_vprintf(warp, ~0u, &site, formats.data(), args.data(), result.data());
      },
      {}, {format, wild});
  EXPECT_LE(out.size(), max_print_bytes);
}

TEST_F(Events, MallocAndFree) {
  const auto use = [](Warp* warp) {
    const auto mode = param<std::uint32_t>(warp, 0);
    const auto bytes = each([](unsigned lane) { return std::uint64_t{lane} * 8 + 8; });
    Lanes<std::uint64_t> pointers{};
    assay_malloc(warp, ~0u, bytes.data(), pointers.data());
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      EXPECT_NE(pointers[lane], 0u);
      EXPECT_EQ(pointers[lane] % 16, 0u);
    }
    EXPECT_EQ(load<double>(warp, ~0u, pointers, 50, Space::generic).undefined, ~0u);
    store(warp, ~0u, pointers, each([](unsigned lane) { return lane * 0.5; }), 51, Space::generic);
    EXPECT_EQ(load<double>(warp, ~0u, pointers, 52, Space::generic).value[9], 4.5);
    const Site site = at(53);
    if (mode == 1) load<double>(warp, 1, each([&](unsigned) { return pointers[0] + 8; }), 54, Space::generic);
    if (mode == 2) {
      for (auto& pointer_ : pointers) pointer_ += 8;
      assay_free(warp, 2, &site, pointers.data());
    }
    assay_free(warp, ~0u, &site, pointers.data());
    if (mode == 3) load<double>(warp, 1, pointers, 55, Space::generic);
    if (mode == 4) assay_free(warp, 1, &site, pointers.data());
    const Lanes<std::uint64_t> null{};
    assay_free(warp, ~0u, &site, null.data());
    Lanes<std::uint64_t> none{};
    const auto huge = each([](unsigned) { return std::uint64_t{1} << 60; });
    assay_malloc(warp, 1, huge.data(), none.data());
    EXPECT_EQ(none[0], 0u);
  };
  const auto fault = [&](std::uint64_t mode) {
    const LaunchReport report = run(use, {}, {Scalar{mode, 4}});
    return report.faults.empty() ? std::string() : report.faults[0].message;
  };
  EXPECT_EQ(fault(0), "");
  EXPECT_THAT(fault(1), HasSubstr("out_of_bounds read of 8 bytes at byte 8 of malloc (8 bytes past the end"));
  EXPECT_THAT(fault(2), HasSubstr("free of a pointer into the middle"));
  EXPECT_THAT(fault(3), HasSubstr("byte 0 of memory that was freed"));
  EXPECT_THAT(fault(4), HasSubstr("free of memory that was freed already"));
}

int recurse(Warp* warp, int depth) {
  if (depth < 0) return 0;
  const std::uint32_t frame = assay_enter_local(warp, 16, 8);
  volatile char padding[512] = {};
  const int deeper = recurse(warp, depth + 1) + padding[depth % 512];
  assay_leave_local(warp, frame);
  return deeper;
}
TEST_F(Events, EndlessRecursionIsATrap) {
  const LaunchReport report = run([](Warp* warp) { recurse(warp, 0); }, {}, {});
  ASSERT_THAT(kinds(report), ElementsAre(Kind::trap));
  EXPECT_THAT(report.faults[0].message, HasSubstr("the stack overflows"));
}

std::vector<std::uint64_t> compared;
TEST_F(Events, ComparisonsReachTheHook) {
  compared.clear();
  engine_.set_compare_hook([](std::uint64_t site, std::uint64_t a, std::uint64_t b, unsigned bits) {
    compared.insert(compared.end(), {site, a, b, bits});
  });
  run(
      [](Warp*) {
        const Site site = at(60);
        assay_compare(&site, 3, 4, 32);
      },
      {}, {});
  EXPECT_THAT(compared, ElementsAre(60, 3, 4, 32));
}

TEST_F(Events, ModuleVariablesStartAgainWithEachCase) {
  const std::uint64_t slot = engine_.reserve_slot();
  const std::vector<std::byte> initial{std::byte{5}, std::byte{0}, std::byte{0}, std::byte{0}};
  module_.variables = {{.name = "counter", .slot = slot, .initial = initial, .constant = false}};
  static std::uint64_t address;
  address = generic_address(slot, 0);
  static std::uint32_t seen;
  const auto bump = [](Warp* warp) {
    const auto place = each([](unsigned) { return address; });
    auto value = load<std::uint32_t>(warp, 1, place, 70);
    seen = value.value[0]++;
    store(warp, 1, place, value.value, 71);
  };
  run(bump, {}, {});
  EXPECT_EQ(seen, 5u);
  run(bump, {}, {});
  EXPECT_EQ(seen, 6u);
  engine_.release_all();
  run(bump, {}, {});
  EXPECT_EQ(seen, 5u);
  module_.variables[0].constant = true;
  engine_.release_all();
  EXPECT_THAT(kinds(run(bump, {}, {})), ElementsAre(Kind::out_of_bounds));
}

TEST_F(Events, ThousandsOfFaultyLaunchesLeaveNothingBehind) { // the address sanitizer counts what is lost
  const auto fail = [](Warp* warp) {
    const std::uint32_t frame = assay_enter_local(warp, 256, 8);
    barrier(warp, 80);
    if (warp->warp_index == 2)
      store(warp, ~0u, element<float>(warp, 0, [](unsigned lane) { return lane * 1000; }),
            each([](unsigned) { return 1.0f; }), 81);
    barrier(warp, 82);
    assay_leave_local(warp, frame);
  };
  for (int i = 0; i < 3000; ++i) {
    engine_.release_all();
    const BufferId y = buffer("an output with a long name", BufferRole::output, DType::f32, {40});
    EXPECT_THAT(kinds(run(fail, {.grid = {2}, .block = {128}, .seed = static_cast<std::uint64_t>(i)}, {y})),
                ElementsAre(Kind::out_of_bounds));
  }
}

TEST_F(Events, SymbolsAreAllThere) {
  for (const RuntimeSymbol& symbol : runtime_symbols()) EXPECT_NE(symbol.address, nullptr) << symbol.name;
  EXPECT_GT(runtime_symbols().size(), 35u);
}

} // namespace
} // namespace assay::cpu::testing
