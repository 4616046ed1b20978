// Kernels written by hand in C++ against abi.h, so that the engine is tested without PTX: a function per
// kernel, run once for every warp. The helpers spell one PTX instruction each.
#pragma once

#include "harness/device/cpu/runtime/abi.h"
#include "harness/device/cpu/runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace assay::cpu::testing {

template <class T> using Lanes = std::array<T, warp_lanes>;
using Mask = std::uint32_t;

inline constexpr Site at(std::uint32_t line) { return {line, line, 1, line}; }

template <class F> Lanes<std::invoke_result_t<F, unsigned>> each(F&& f) {
  Lanes<std::invoke_result_t<F, unsigned>> lanes;
  for (unsigned i = 0; i < warp_lanes; ++i) lanes[i] = f(i);
  return lanes;
}

template <class T> T param(Warp* warp, std::uint32_t offset) {
  const Access access{at(1), Space::param, sizeof(T), 1, weak};
  const Lanes<std::uint64_t> addresses = each([&](unsigned) { return std::uint64_t{offset}; });
  Lanes<T> values{};
  Mask undefined = 0;
  assay_load(warp, warp->alive, &access, addresses.data(), values.data(), &undefined);
  return values[static_cast<std::size_t>(std::countr_zero(warp->alive))];
}
inline std::uint64_t pointer(Warp* warp, unsigned index) { return param<std::uint64_t>(warp, index * 8); }

// Linear thread index in the block, and in the grid.
inline std::uint32_t thread_of(const Warp* warp, unsigned lane) {
  return warp->warp_index * warp_lanes + lane;
}
inline std::uint64_t global_thread(const Warp* warp, unsigned lane) {
  return std::uint64_t{warp->ctaid[0]} * warp->ntid[0] + warp->tid_x[lane];
}

template <class T> struct Loaded {
  Lanes<T> value{};
  Mask undefined = 0;
};

template <class T>
Loaded<T> load(Warp* warp, Mask lanes, const Lanes<std::uint64_t>& addresses, std::uint32_t line,
               Space space = Space::global, Ordering ordering = weak) {
  const Access access{at(line), space, sizeof(T), 1, ordering};
  Loaded<T> loaded;
  assay_load(warp, lanes, &access, addresses.data(), loaded.value.data(), &loaded.undefined);
  return loaded;
}

template <class T>
void store(Warp* warp, Mask lanes, const Lanes<std::uint64_t>& addresses, const Lanes<T>& values,
           std::uint32_t line, Space space = Space::global, Ordering ordering = weak, Mask undefined = 0) {
  const Access access{at(line), space, sizeof(T), 1, ordering};
  assay_store(warp, lanes, &access, addresses.data(), values.data(), &undefined);
}

// Pointer parameter `index` plus lane-dependent elements.
template <class T, class F> Lanes<std::uint64_t> element(Warp* warp, unsigned index, F&& element_of) {
  const std::uint64_t base = pointer(warp, index);
  return each([&](unsigned lane) { return base + static_cast<std::uint64_t>(element_of(lane)) * sizeof(T); });
}
template <class T, class F> Lanes<std::uint64_t> shared_element(F&& element_of) {
  return each([&](unsigned lane) { return static_cast<std::uint64_t>(element_of(lane)) * sizeof(T); });
}

std::uint32_t barrier(Warp* warp, std::uint32_t line, std::uint32_t id = 0, std::uint32_t count = 0,
                      BarrierMode mode = BarrierMode::sync, Mask predicate = 0);
void tick(Warp* warp, std::uint32_t line = 900); // one basic block

class KernelTest : public ::testing::Test {
 protected:
  BufferId buffer(const std::string& name, BufferRole role, DType dtype, std::vector<std::int64_t> shape,
                  bool initialized = false);
  template <class T>
  BufferId filled(const std::string& name, BufferRole role, DType dtype, std::vector<std::int64_t> shape,
                  const std::vector<T>& values) {
    BufferSpec spec{.name = name, .role = role, .dtype = dtype, .shape = std::move(shape)};
    auto id = engine_.allocate(spec, std::as_bytes(std::span(values)));
    EXPECT_TRUE(id.has_value());
    return *id;
  }
  template <class T> std::vector<T> contents(BufferId id, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_TRUE(engine_.read(id, std::as_writable_bytes(std::span(values))).has_value());
    return values;
  }

  struct Shape {
    Dim3 grid{1, 1, 1}, block{32, 1, 1};
    std::uint32_t static_shared = 0;
    std::uint64_t dynamic_shared = 0;
    std::uint64_t seed = 1;
    std::uint64_t step_budget = 0;
  };
  LaunchReport run(WarpFunction function, Shape shape, std::vector<Argument> args);
  // Runs under many seeds; the union of kinds seen.
  std::vector<Kind> kinds_seen(WarpFunction function, Shape shape, const std::vector<Argument>& args,
                               int seeds = 20);

  Engine engine_;
  CompiledModule module_{.files = {"kernel.cu"}, .origin = "kernel.ptx"};
  std::vector<SharedVariable> shared_; // instead of one variable of static_shared bytes
};

std::vector<Kind> kinds(const LaunchReport& report, bool notes = false);

} // namespace assay::cpu::testing
