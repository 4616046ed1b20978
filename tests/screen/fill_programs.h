// The programs of harness/screen/device on the CPU device: one burst's slots as bytes, changed by one launch
// after another.
#pragma once

#include "harness/compile/compile.h"
#include "harness/device/cpu/cpu_device.h"
#include "harness/screen/fill_source.h"
#include "harness/screen/slot_layout.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

namespace assay::testing {

template <class T> T value(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
  return *std::move(result);
}

class FillPrograms {
 public:
  // Slots of `cases` cases, and behind them of `twins` of the first ones.
  FillPrograms(const SlotLayout& layout, std::vector<FillInput> given, std::uint32_t cases,
               std::uint32_t twins = 0)
      : slots((cases + twins) * layout.bytes), records(cases + twins), layout_(layout),
        given_(std::move(given)), cases_(cases) {}

  std::vector<std::byte> slots;
  std::vector<MemoryRecord> records;

  void fill() {
    launch("assay_clear", {plan, slot, bytes, count, record});
    launch("assay_fill", {plan, inputs, slot, bytes, count});
    launch("assay_settle", {plan, inputs, slot, bytes, count}, layout_.sort_bytes);
  }
  void sum_before() { launch("assay_sum", {plan, slot, bytes, record, before}); }
  void judge_memory() {
    launch("assay_sum", {plan, slot, bytes, record, after});
    launch("assay_check", {plan, slot, bytes, count, record});
  }
  void compare_twins() {
    launch("assay_compare", {plan, slot, bytes, count, record}, 0, records.size() - cases_);
  }

 private:
  enum What : std::uint8_t { plan, inputs, slot, bytes, count, record, before, after };

  void launch(const char* entry, const std::vector<What>& args, std::uint64_t shared = 0,
              std::size_t rows = 0) {
    static const std::unique_ptr<Device> device = value(make_cpu_device());
    static const std::shared_ptr<Program> program =
        value(device->load(value(fill_source(default_cache_dir()))));
    device->release_all();
    const auto buffer = [&](const char* name, std::span<const std::byte> contents, BufferRole role) {
      const std::vector<std::int64_t> shape{static_cast<std::int64_t>(contents.size())};
      return value(
          device->allocate({.name = name, .role = role, .dtype = DType::u8, .shape = shape}, contents));
    };
    const BufferId of_slots = buffer("slots", slots, BufferRole::scratch);
    const BufferId of_records = buffer("records", std::as_bytes(std::span(records)), BufferRole::scratch);
    const auto argument = [&](What what) -> Argument {
      switch (what) {
      case plan:
        return buffer("plan", std::as_bytes(std::span(&layout_.fill, 1)), BufferRole::input);
      case inputs:
        return buffer("given", std::as_bytes(std::span(given_)), BufferRole::input);
      case slot:
        return of_slots;
      case record:
        return of_records;
      case bytes:
        return Scalar{layout_.bytes, 8};
      case count:
        return Scalar{cases_, 4};
      default:
        return Scalar{what == after ? 1u : 0u, 4};
      }
    };
    LaunchSpec spec{.entry = entry,
                    .grid = {rows != 0 ? rows : records.size(), 2, 1},
                    .block = {64, 1, 1},
                    .shared_bytes = shared};
    for (const What what : args) spec.args.push_back(argument(what));
    const LaunchReport report = value(device->launch(*program, spec));
    for (const Fault& fault : report.faults)
      if (!fault.note) ADD_FAILURE() << entry << ": " << fault.message;
    EXPECT_TRUE(device->read(of_slots, slots).has_value());
    EXPECT_TRUE(device->read(of_records, std::as_writable_bytes(std::span(records))).has_value());
  }

  const SlotLayout& layout_;
  std::vector<FillInput> given_;
  std::uint32_t cases_;
};

} // namespace assay::testing
