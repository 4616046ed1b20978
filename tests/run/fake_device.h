// A device whose kernels are C++ functions on dense buffers: the layers above the device can be tested
// without PTX.
#pragma once

#include "harness/device/device.h"

#include <cstring>
#include <functional>
#include <map>

namespace assay::testing {

class FakeDevice;

// One launch as a fake kernel sees it.
struct FakeLaunch {
  FakeDevice& device;
  const LaunchSpec& spec;
  std::vector<Fault> faults; // for the kernel to fill

  template <class T> std::span<T> buffer(std::size_t argument);
  template <class T> T scalar(std::size_t argument) const {
    T value;
    std::memcpy(&value, &std::get<Scalar>(spec.args[argument]).bits, sizeof value);
    return value;
  }
};

using FakeKernel = std::function<void(FakeLaunch&)>;

// Every loaded program has all the entries that were added. Outputs start as bytes 0xA5, and an output
// element that still has them counts as unwritten. Strides and offsets are recorded, but buffers are dense.
class FakeDevice : public Device {
 public:
  struct Buffer {
    BufferSpec spec;
    std::vector<std::byte> bytes;
  };

  void add(const std::string& entry, std::vector<std::uint32_t> param_bytes, FakeKernel kernel);

  std::string name() const override { return "fake"; }
  Result<std::shared_ptr<Program>> load(const PtxSource& source) override;
  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override;
  void fill_zero(BufferId buffer) override;
  void release_all() override { buffers_.clear(); }
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override;
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override;
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override;
  Coverage coverage() override { return {}; }
  void set_compare_hook(CompareHook) override {}

  std::vector<Buffer>& buffers() { return buffers_; }
  const std::vector<LaunchSpec>& launches() const { return launches_; } // all since construction

 private:
  std::vector<EntryInfo> entries_;
  std::map<std::string, FakeKernel> kernels_;
  std::vector<Buffer> buffers_;
  std::vector<LaunchSpec> launches_;
};

template <class T> std::span<T> FakeLaunch::buffer(std::size_t argument) {
  auto& bytes = device.buffers()[static_cast<std::size_t>(std::get<BufferId>(spec.args[argument]))].bytes;
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

} // namespace assay::testing
