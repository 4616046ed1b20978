// A batch of small cases over the fake driver. A case is given a number; its slot holds x, y and z of 8
// bytes.
#pragma once

#include "harness/device/batch.h"
#include "tests/cuda/cuda_device_fixture.h"

#include <cstring>
#include <span>

namespace assay::testing {

using Area = BatchArgument::Area;
using Over = BatchStep::Over;

inline constexpr std::size_t slot_bytes = 256;

class BatchTest : public CudaDeviceTest {
 protected:
  // Inputs, two kernels on trial, and what comes back: fill x = given, first y = x + 1, second z = 2 y, judge
  // result = z + common.
  void SetUp() override {
    CudaDeviceTest::SetUp();
    options.batch.lanes = 2;
    add_fake_kernel("fill", {8, 8, 8, 4}, [](const FakeGpuLaunch& l) {
      for (unsigned b = 0; b < l.grid[0]; ++b) {
        const auto cases = l.scalar<std::uint32_t>(3);
        std::int64_t* slot = l.pointer<std::int64_t>(1) + b * l.scalar<std::uint64_t>(2) / 8;
        slot[0] = l.pointer<std::int64_t>(0)[b < cases ? b : b - cases];
        slot[1] = slot[2] = -1000;
      }
      return 0;
    });
    add_fake_kernel("first", {8, 8}, [](const FakeGpuLaunch& l) {
      return *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) + 1, 0;
    });
    add_fake_kernel("second", {8, 8}, [](const FakeGpuLaunch& l) {
      return *l.pointer<std::int64_t>(1) = *l.pointer<std::int64_t>(0) * 2, 0;
    });
    add_fake_kernel("judge", {8, 8, 8}, [](const FakeGpuLaunch& l) {
      for (unsigned b = 0; b < l.grid[0]; ++b)
        l.pointer<std::int64_t>(2)[b] =
            l.pointer<std::int64_t>(1)[b * slot_bytes / 8 + 2] + *l.pointer<std::int64_t>(0);
      return 0;
    });
    ptx = fake_ptx({"fill", "first", "second", "judge"});
  }

  BatchStep step(Over over, const std::string& entry, std::vector<BatchArgument> args) const {
    return {.over = over, .program = program, .entry = entry, .args = std::move(args)};
  }
  static BatchArgument at(Area area, std::uint64_t bits = 0) { return {area, bits}; }

  Batch sums(std::uint32_t wave_cases, std::uint32_t wave_twins = 0, std::int64_t common = 100) const {
    Batch batch;
    batch.common.resize(sizeof common);
    std::memcpy(batch.common.data(), &common, sizeof common);
    batch.given_bytes = 8;
    batch.slot_bytes = slot_bytes;
    batch.result_bytes = {8};
    batch.wave_cases = wave_cases;
    batch.wave_twins = wave_twins;
    batch.steps = {step(Over::slots, "fill",
                        {at(Area::given), at(Area::slot), at(Area::value, slot_bytes), at(Area::cases)}),
                   step(Over::each, "first", {at(Area::slot), at(Area::slot, 8)}),
                   step(Over::each, "second", {at(Area::slot, 8), at(Area::slot, 16)}),
                   step(Over::cases, "judge", {at(Area::common), at(Area::slot), at(Area::results)})};
    return batch;
  }

  BatchDevice& batches() const { return dynamic_cast<BatchDevice&>(*device); }
  void open_batch(const Batch& batch) {
    const auto opened = batches().open_batch(batch);
    ASSERT_TRUE(opened) << to_string(opened.error());
  }

  // Of cases 0, 1, 2, ..., each given its number.
  BatchOutcome outcome_of(std::size_t cases, bool timed = false) {
    std::vector<std::int64_t> given(cases);
    for (std::size_t i = 0; i < cases; ++i) given[i] = static_cast<std::int64_t>(i);
    const auto submitted = batches().submit(std::as_bytes(std::span(given)), cases, timed);
    EXPECT_TRUE(submitted) << to_string(submitted.error());
    if (!submitted) return {};
    auto outcome = batches().collect();
    EXPECT_TRUE(outcome) << to_string(outcome.error());
    return outcome ? *std::move(outcome) : BatchOutcome{};
  }

  template <class T> static std::vector<T> results(const BatchOutcome& outcome, std::size_t array = 0) {
    EXPECT_TRUE(outcome.done) << outcome.why;
    if (array >= outcome.results.size()) return {};
    std::vector<T> values(outcome.results[array].size() / sizeof(T));
    std::memcpy(values.data(), outcome.results[array].data(), values.size() * sizeof(T));
    return values;
  }

  void expect_sums(const BatchOutcome& outcome, std::size_t cases, std::int64_t common = 100) {
    std::vector<std::int64_t> wanted;
    for (std::size_t i = 0; i < cases; ++i) wanted.push_back(2 * (static_cast<std::int64_t>(i) + 1) + common);
    EXPECT_EQ(results<std::int64_t>(outcome), wanted);
  }
};

} // namespace assay::testing
