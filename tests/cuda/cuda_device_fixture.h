// A device over the fake driver and a case of three buffers for it.
#pragma once

#include "harness/device/cuda/cuda_device.h"
#include "harness/device/whole_case.h"
#include "tests/cuda/fake_driver.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::testing {

inline constexpr std::int64_t n = 8;

class CudaDeviceTest : public ::testing::Test {
 protected:
  TemporaryFolder folder;

  void SetUp() override {
    reset_fake_gpu();
    options.cache_dir = folder.path();
    options.watchdog = std::chrono::milliseconds(300);
    options.watchdog_again = std::chrono::milliseconds(100);
  }

  // k(x, y, s): x an input, y an output, s scratch, n floats each.
  void kernel(FakeGpuKernel body, const std::string& more = "") {
    add_fake_kernel("k", {8, 8, 8}, std::move(body));
    ptx = fake_ptx({"k"}, more);
  }

  void open() {
    auto opened = make_cuda_device(fake_driver(), options);
    ASSERT_TRUE(opened) << to_string(opened.error());
    device = *std::move(opened);
    auto loaded = device->load({ptx, "k.cu", {}});
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    program = *std::move(loaded);
  }

  void new_case() {
    device->release_all();
    std::vector<float> values(n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    const auto buffer = [&](const char* name, BufferRole role) {
      BufferSpec spec;
      spec.name = name;
      spec.role = role;
      spec.shape = {n};
      spec.initialized = role == BufferRole::input;
      const auto id = device->allocate(spec, spec.initialized ? std::as_bytes(std::span(values))
                                                              : std::span<const std::byte>());
      EXPECT_TRUE(id);
      return id ? *id : BufferId{};
    };
    x = buffer("x", BufferRole::input);
    y = buffer("y", BufferRole::output);
    s = buffer("s", BufferRole::scratch);
  }

  Result<LaunchReport> launch() {
    LaunchSpec spec;
    spec.entry = "k";
    spec.block = {32};
    spec.args = {x, y, s};
    return device->launch(*program, spec);
  }

  // Twice the same launch.
  Result<bool> launch_whole() {
    LaunchSpec spec;
    spec.entry = "k";
    spec.block = {32};
    spec.args = {x, y, s};
    const std::vector<LaunchSpec> specs = {spec, spec};
    return dynamic_cast<WholeCase&>(*device).launch_whole(*program, specs);
  }

  // One case of this kernel: its faults.
  std::vector<Fault> faults_of_a_case() {
    new_case();
    const auto report = launch();
    EXPECT_TRUE(report) << to_string(report.error());
    return report ? report->faults : std::vector<Fault>();
  }

  std::vector<float> read(BufferId buffer) {
    std::vector<float> values(n);
    EXPECT_TRUE(device->read(buffer, std::as_writable_bytes(std::span(values))));
    return values;
  }

  void expect_fault(Kind kind, const std::string& buffer, const std::string& message) {
    const auto faults = faults_of_a_case();
    ASSERT_THAT(faults, ::testing::SizeIs(1));
    EXPECT_EQ(faults[0].kind, kind) << faults[0].message;
    EXPECT_EQ(faults[0].buffer, buffer);
    EXPECT_THAT(faults[0].message, ::testing::HasSubstr(message));
    EXPECT_FALSE(faults[0].note);
  }

  CudaOptions options;
  std::string ptx;
  std::unique_ptr<Device> device;
  std::shared_ptr<Program> program;
  BufferId x{}, y{}, s{};
};

inline void doubles(const FakeGpuLaunch& l) {
  for (std::int64_t i = 0; i < n; ++i) l.pointer<float>(1)[i] = 2 * l.pointer<float>(0)[i];
}

} // namespace assay::testing
