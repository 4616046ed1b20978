// A Device that passes everything on to another and remembers, of one case, the buffers and launches: what a
// recorder needs to run the same on a GPU.
#pragma once

#include "tests/conformance/launches.h"

#include <optional>

namespace assay::conformance {

class RecordingDevice final : public Device {
 public:
  explicit RecordingDevice(Device& inner) : inner_(inner) {}

  // The case since release_all was last called, with the buffers that its launches take. Nothing where
  // nothing was launched or a buffer was not dense.
  std::optional<LaunchCase> recorded() const;
  const std::string& ptx() const { return ptx_; } // of the program loaded last

  std::string name() const override { return inner_.name(); }
  Result<std::shared_ptr<Program>> load(const PtxSource& source) override;
  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override;
  void fill_zero(BufferId buffer) override;
  void release_all() override;
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override;
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    return inner_.read(buffer, dense);
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    return inner_.unwritten(buffer, limit);
  }
  Coverage coverage() override { return inner_.coverage(); }
  void set_compare_hook(CompareHook hook) override { inner_.set_compare_hook(hook); }

 private:
  Device& inner_;
  LaunchCase case_;
  std::map<BufferId, std::int64_t> index_;
  std::string ptx_;
  bool dense_ = true;
};

} // namespace assay::conformance
