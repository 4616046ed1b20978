#include "tests/device/kernel_fixture.h"

#include <algorithm>

namespace assay::cpu::testing {

std::uint32_t barrier(Warp* warp, std::uint32_t line, std::uint32_t id, std::uint32_t count, BarrierMode mode,
                      Mask predicate) {
  // Emitted code hands out pointers to constant data; here every line has one that lives as long.
  static std::array<BarrierSite, 1024 * 5> sites;
  BarrierSite& site = sites[line * 5 + static_cast<std::size_t>(mode)];
  site = {at(line), mode, true};
  return assay_barrier(warp, warp->alive, &site, id, count, predicate);
}

void tick(Warp* warp, std::uint32_t line) {
  const Site site = at(line);
  if (--warp->steps_until_tick <= 0) assay_tick(warp, &site);
}

BufferId KernelTest::buffer(const std::string& name, BufferRole role, DType dtype,
                            std::vector<std::int64_t> shape, bool initialized) {
  auto id = engine_.allocate(
      BufferSpec{
          .name = name, .role = role, .dtype = dtype, .shape = std::move(shape), .initialized = initialized},
      {});
  EXPECT_TRUE(id.has_value());
  return *id;
}

LaunchReport KernelTest::run(WarpFunction function, Shape shape, std::vector<Argument> args) {
  CompiledEntry entry;
  entry.info.name = "kernel";
  entry.function = function;
  entry.shared_bytes = shape.static_shared;
  entry.info.static_shared_bytes = shape.static_shared;
  entry.shared = shared_;
  if (shared_.empty() && shape.static_shared) entry.shared = {{"tile", 0, shape.static_shared}};
  for (const Argument& arg : args) {
    const auto* scalar = std::get_if<Scalar>(&arg);
    entry.param_offsets.push_back(entry.param_window_bytes);
    entry.info.param_bytes.push_back(scalar ? scalar->size : 8);
    entry.param_window_bytes += 8;
  }
  LaunchSpec spec{.entry = "kernel",
                  .grid = shape.grid,
                  .block = shape.block,
                  .shared_bytes = shape.dynamic_shared,
                  .args = std::move(args),
                  .schedule_seed = shape.seed,
                  .step_budget = shape.step_budget};
  auto report = engine_.launch(module_, entry, spec);
  EXPECT_TRUE(report.has_value());
  return *std::move(report);
}

std::vector<Kind> kinds(const LaunchReport& report, bool notes) {
  std::vector<Kind> found;
  for (const Fault& fault : report.faults)
    if (fault.note == notes) found.push_back(fault.kind);
  return found;
}

std::vector<Kind> KernelTest::kinds_seen(WarpFunction function, Shape shape,
                                         const std::vector<Argument>& args, int seeds) {
  std::vector<Kind> seen;
  for (int seed = 0; seed < seeds; ++seed) {
    shape.seed = static_cast<std::uint64_t>(seed);
    for (const Kind kind : kinds(run(function, shape, args)))
      if (std::ranges::find(seen, kind) == seen.end()) seen.push_back(kind);
  }
  return seen;
}

} // namespace assay::cpu::testing
