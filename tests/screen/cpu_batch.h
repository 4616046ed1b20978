// The CPU device as one that runs batches: every launch of every case one after the other, in one buffer for
// all slots, as they lie on a GPU. So the whole screen is tested where there is none.
#pragma once

#include "harness/base/check.h"
#include "harness/device/batch.h"
#include "harness/device/cpu/cpu_device.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::testing {

class CpuBatch : public Device, public BatchDevice {
 public:
  CpuBatch() : inner_(*make_cpu_device()) {}

  std::string name() const override { return inner_->name(); }
  Result<std::shared_ptr<Program>> load(const PtxSource& source) override { return inner_->load(source); }
  Result<BufferId> allocate(const BufferSpec& spec, std::span<const std::byte> dense) override {
    return inner_->allocate(spec, dense);
  }
  void fill_zero(BufferId buffer) override { inner_->fill_zero(buffer); }
  void release_all() override { inner_->release_all(); }
  Result<LaunchReport> launch(Program& program, const LaunchSpec& spec) override {
    ASSAY_CHECK(!submitted_, "a launch between submit() and collect()");
    return inner_->launch(program, spec);
  }
  Result<void> read(BufferId buffer, std::span<std::byte> dense) override {
    return inner_->read(buffer, dense);
  }
  std::vector<std::int64_t> unwritten(BufferId buffer, std::size_t limit) const override {
    return inner_->unwritten(buffer, limit);
  }
  Coverage coverage() override { return inner_->coverage(); }
  void set_compare_hook(CompareHook hook) override { inner_->set_compare_hook(hook); }

  Result<void> open_batch(const Batch& batch) override {
    ASSAY_CHECK(!submitted_, "open_batch() between submit() and collect()");
    if (batch.slot_bytes * (batch.wave_cases + batch.wave_twins) + batch.scratch_bytes > most_bytes)
      return user_error({}, "a wave does not fit into the memory");
    batch_ = batch;
    return {};
  }
  Result<void> submit(std::span<const std::byte> given, std::size_t cases, bool timed) override {
    ASSAY_CHECK(!submitted_ && given.size() == cases * batch_.given_bytes, "{} bytes given for {} cases",
                given.size(), cases);
    given_.assign(given.begin(), given.end());
    cases_ = cases;
    timed_ = timed;
    submitted_ = true;
    ++submits;
    return {};
  }
  Result<BatchOutcome> collect() override {
    ASSAY_CHECK(submitted_, "collect() before submit()");
    submitted_ = false;
    BatchOutcome outcome;
    outcome.results.resize(batch_.result_bytes.size());
    if (timed_) outcome.step_seconds.assign(batch_.steps.size(), 0);
    for (std::size_t first = 0; first < cases_; first += batch_.wave_cases) {
      ASSAY_TRY(outcome.why, run_wave(first, outcome));
      if (!outcome.why.empty()) return outcome;
    }
    outcome.done = true;
    return outcome;
  }

  std::size_t most_bytes = std::size_t{512} << 20; // of a wave
  int submits = 0;

 private:
  // The areas of a wave, as buffers and as the addresses that kernels see.
  struct Wave {
    std::uint32_t cases = 0, twins = 0;
    BufferId slots{};
    std::vector<BufferId> results;
    std::uint64_t common_at = 0, given_at = 0, slots_at = 0, scratch_at = 0;
    std::vector<std::uint64_t> results_at;
  };

  Result<BufferId> buffer(std::span<const std::byte> contents) {
    std::vector<std::byte> bytes(contents.begin(), contents.end());
    bytes.resize(std::max<std::size_t>(bytes.size(), 16));
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(bytes.size())};
    return inner_->allocate({.name = "arena", .dtype = DType::u8, .shape = shape}, bytes);
  }

  Result<std::uint64_t> address(BufferId of) {
    static constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry assay_address(.param .u64 out, .param .u64 of)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [of];
  cvta.to.global.u64 %rd3, %rd1;
  st.global.u64 [%rd3], %rd2;
  ret;
}
)";
    PtxSource source;
    source.text = text;
    source.origin = "assay_address.ptx";
    ASSAY_TRY(const auto program, inner_->load(source));
    std::vector<std::byte> bytes(16);
    ASSAY_TRY(const BufferId out, buffer(bytes));
    ASSAY_TRY(const LaunchReport report,
              inner_->launch(*program, {.entry = "assay_address", .args = {out, of}}));
    ASSAY_CHECK(report.faults.empty(), "{}", report.faults.front().message);
    ASSAY_TRY_VOID(inner_->read(out, bytes));
    std::uint64_t result = 0;
    std::memcpy(&result, bytes.data(), sizeof result);
    return result;
  }

  Result<std::uint64_t> area(std::span<const std::byte> contents) {
    ASSAY_TRY(const BufferId id, buffer(contents));
    return address(id);
  }

  // Why a launch did not come to its end, or nothing.
  Result<std::string> run_wave(std::size_t first, BatchOutcome& outcome) {
    inner_->release_all();
    Wave wave;
    wave.cases = static_cast<std::uint32_t>(std::min<std::size_t>(batch_.wave_cases, cases_ - first));
    wave.twins = std::min(batch_.wave_twins, wave.cases);
    const std::size_t all = std::size_t{wave.cases} + wave.twins;
    ASSAY_TRY(wave.common_at, area(batch_.common));
    ASSAY_TRY(wave.given_at,
              area(std::span(given_).subspan(first * batch_.given_bytes, wave.cases * batch_.given_bytes)));
    ASSAY_TRY(wave.scratch_at, area(std::vector<std::byte>(batch_.scratch_bytes)));
    ASSAY_TRY(wave.slots, buffer(std::vector<std::byte>(all * batch_.slot_bytes)));
    ASSAY_TRY(wave.slots_at, address(wave.slots));
    for (const std::size_t bytes : batch_.result_bytes) {
      ASSAY_TRY(const BufferId id, buffer(std::vector<std::byte>(all * bytes)));
      wave.results.push_back(id);
      ASSAY_TRY(const std::uint64_t at, address(id));
      wave.results_at.push_back(at);
    }
    for (const BatchStep& step : batch_.steps) {
      ASSAY_TRY(std::string why, run(step, wave));
      if (!why.empty()) return why;
    }
    for (std::size_t array = 0; array < wave.results.size(); ++array) {
      std::vector<std::byte> bytes(std::max<std::size_t>(all * batch_.result_bytes[array], 16));
      ASSAY_TRY_VOID(inner_->read(wave.results[array], bytes));
      outcome.results[array].insert(outcome.results[array].end(), bytes.begin(),
                                    bytes.begin() +
                                        static_cast<std::ptrdiff_t>(wave.cases * batch_.result_bytes[array]));
    }
    return std::string();
  }

  Result<std::string> run(const BatchStep& step, const Wave& wave) {
    switch (step.over) {
    case BatchStep::Over::each:
      for (std::uint64_t slot = 0; slot < std::uint64_t{wave.cases} + wave.twins; ++slot) {
        ASSAY_TRY(std::string why, launch_once(step, wave, 1, slot));
        if (!why.empty()) return why;
      }
      return std::string();
    case BatchStep::Over::slots:
      return launch_once(step, wave, std::uint64_t{wave.cases} + wave.twins, 0);
    case BatchStep::Over::cases:
      return launch_once(step, wave, wave.cases, 0);
    case BatchStep::Over::twins:
      return wave.twins == 0 ? Result<std::string>() : launch_once(step, wave, wave.twins, 0);
    case BatchStep::Over::blocks:
      break;
    }
    BatchStep fewer = step;
    fewer.grid.x = std::min<std::uint64_t>(step.grid.x, wave.cases);
    return launch_once(fewer, wave, 1, 0);
  }

  Result<std::string> launch_once(const BatchStep& step, const Wave& wave, std::uint64_t rows,
                                  std::uint64_t slot) {
    LaunchSpec spec{.entry = step.entry,
                    .grid = {step.grid.x * rows, step.grid.y, step.grid.z},
                    .block = step.block,
                    .shared_bytes = step.shared_bytes};
    for (const BatchArgument& argument : step.args) spec.args.emplace_back(scalar(argument, wave, slot));
    ASSAY_TRY(const LaunchReport report, inner_->launch(*step.program, spec));
    for (const Fault& fault : report.faults)
      if (!fault.note && fault.kind != Kind::uninitialized && fault.kind != Kind::race) return fault.message;
    return std::string();
  }

  Scalar scalar(const BatchArgument& argument, const Wave& wave, std::uint64_t slot) const {
    using Area = BatchArgument::Area;
    switch (argument.area) {
    case Area::value:
      return {argument.bits, argument.size};
    case Area::common:
      return {wave.common_at + argument.bits, 8};
    case Area::given:
      return {wave.given_at + argument.bits, 8};
    case Area::slot:
      return {wave.slots_at + slot * batch_.slot_bytes + argument.bits, 8};
    case Area::scratch:
      return {wave.scratch_at + argument.bits, 8};
    case Area::results:
      return {wave.results_at[argument.bits], 8};
    case Area::cases:
      return {wave.cases, 4};
    }
    return {};
  }

  std::unique_ptr<Device> inner_;
  Batch batch_;
  std::vector<std::byte> given_;
  std::size_t cases_ = 0;
  bool timed_ = false, submitted_ = false;
};

} // namespace assay::testing
