#include "tests/run/fake_device.h"

#include <algorithm>

namespace assay::testing {

namespace {

constexpr std::byte poison{0xA5};

class FakeProgram : public Program {
 public:
  explicit FakeProgram(std::vector<EntryInfo> entries) : entries_(std::move(entries)) {}
  const std::vector<EntryInfo>& entries() const override { return entries_; }

 private:
  std::vector<EntryInfo> entries_;
};

} // namespace

void FakeDevice::add(const std::string& entry, std::vector<std::uint32_t> param_bytes, FakeKernel kernel) {
  EntryInfo info;
  info.name = entry;
  info.param_bytes = std::move(param_bytes);
  entries_.push_back(std::move(info));
  kernels_[entry] = std::move(kernel);
}

Result<std::shared_ptr<Program>> FakeDevice::load(const PtxSource&) {
  return std::make_shared<FakeProgram>(entries_);
}

Result<BufferId> FakeDevice::allocate(const BufferSpec& spec, std::span<const std::byte> dense) {
  std::size_t count = size_of(spec.dtype);
  for (const std::int64_t size : spec.shape) count *= static_cast<std::size_t>(size);
  Buffer buffer{spec, {dense.begin(), dense.end()}};
  buffer.bytes.resize(count, poison);
  buffers_.push_back(std::move(buffer));
  return static_cast<BufferId>(buffers_.size() - 1);
}

void FakeDevice::fill_zero(BufferId buffer) {
  std::ranges::fill(buffers_[static_cast<std::size_t>(buffer)].bytes, std::byte{0});
}

Result<LaunchReport> FakeDevice::launch(Program&, const LaunchSpec& spec) {
  launches_.push_back(spec);
  FakeLaunch launch{*this, spec, {}};
  kernels_.at(spec.entry)(launch);
  return LaunchReport{std::move(launch.faults), 1};
}

Result<void> FakeDevice::read(BufferId buffer, std::span<std::byte> dense) {
  std::ranges::copy(buffers_[static_cast<std::size_t>(buffer)].bytes, dense.begin());
  return {};
}

std::vector<std::int64_t> FakeDevice::unwritten(BufferId id, std::size_t limit) const {
  const Buffer& buffer = buffers_[static_cast<std::size_t>(id)];
  const std::size_t size = size_of(buffer.spec.dtype);
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i * size < buffer.bytes.size() && found.size() < limit; ++i)
    if (std::all_of(buffer.bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                    buffer.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                    [](std::byte b) { return b == poison; }))
      found.push_back(static_cast<std::int64_t>(i));
  return found;
}

} // namespace assay::testing
