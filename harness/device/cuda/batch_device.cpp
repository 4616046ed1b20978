// Many cases of one plan at once, as the device is asked for them.
#include "harness/base/check.h"
#include "harness/device/cuda/two_worlds.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::cuda {

namespace {

// What grid.x of a whole wave is multiplied by, at most.
std::uint64_t factor_of(BatchStep::Over over, const BatchOrder& order) {
  switch (over) {
  case BatchStep::Over::slots:
    return order.wave_slots();
  case BatchStep::Over::cases:
    return order.wave_cases;
  case BatchStep::Over::twins:
    return std::max(order.wave_twins, 1u);
  case BatchStep::Over::each:
  case BatchStep::Over::blocks:
    break;
  }
  return 1;
}

// As the limits know it.
Argument plain_argument(const BatchArgument& argument) {
  if (argument.area == BatchArgument::Area::value) return Scalar{argument.bits, argument.size};
  if (argument.area == BatchArgument::Area::cases) return Scalar{0, 4};
  return BufferId{};
}

} // namespace

Result<OrderedStep> CudaDevice::ordered(const BatchStep& step, const BatchOrder& order) const {
  ASSAY_CHECK(step.program != nullptr, "a step without a program");
  const CudaProgram& program = own(*step.program);
  const Place place{program.origin, 0, 0};
  if (program.traits.state)
    return user_error(place, "{} may write a variable of its module: cases cannot run side by side",
                      step.entry);
  if (program.traits.heap)
    return user_error(place, "{} may allocate memory: cases cannot run side by side", step.entry);
  const auto entry = std::ranges::find(program.infos, step.entry, &EntryInfo::name);
  if (entry == program.infos.end()) return user_error(place, "the PTX has no entry '{}'", step.entry);
  LaunchSpec spec;
  spec.grid = step.grid;
  spec.grid.x *= factor_of(step.over, order);
  spec.block = step.block;
  spec.shared_bytes = step.shared_bytes;
  for (const BatchArgument& argument : step.args) {
    ASSAY_CHECK(argument.area != BatchArgument::Area::results || argument.bits < order.result_bytes.size(),
                "a step names an array of results that there is not");
    spec.args.push_back(plain_argument(argument));
  }
  if (const auto broken = broken_limit(*entry, spec, gpu_.limits()))
    return user_error(place, "{}: {}", step.entry, *broken);
  return OrderedStep{.over = step.over,
                     .module = program.id,
                     .function = static_cast<std::uint32_t>(entry - program.infos.begin()),
                     .grid = narrow(step.grid),
                     .block = narrow(step.block),
                     .shared_bytes = static_cast<std::uint32_t>(step.shared_bytes),
                     .args = step.args};
}

Result<void> CudaDevice::open_batch(const Batch& batch) {
  ASSAY_CHECK(!batch_ || batch_->cases == 0, "a batch was opened while one was under way");
  ASSAY_CHECK(batch.wave_cases > 0 && batch.wave_twins <= batch.wave_cases, "a wave of {} cases and {} twins",
              batch.wave_cases, batch.wave_twins);
  ASSAY_CHECK(batch.slot_bytes % batch_alignment == 0, "slots of {} bytes", batch.slot_bytes);
  batch_.reset();
  OpenBatch open;
  open.order.common_bytes = batch.common.size();
  open.order.given_bytes = batch.given_bytes;
  open.order.slot_bytes = batch.slot_bytes;
  open.order.scratch_bytes = batch.scratch_bytes;
  open.order.result_bytes = batch.result_bytes;
  open.order.wave_cases = batch.wave_cases;
  open.order.wave_twins = batch.wave_twins;
  open.order.tuning = tuning_;
  const std::size_t lane = lane_layout(open.order).bytes;
  if (batch.common.size() > staging_capacity || lane > batch_memory - batch.common.size() - batch_alignment)
    return user_error({}, "a wave of {} cases needs {} MiB of the GPU (at most {} MiB)", batch.wave_cases,
                      (lane + batch.common.size()) >> 20, batch_memory >> 20);
  for (const BatchStep& step : batch.steps) {
    ASSAY_TRY(OrderedStep made, ordered(step, open.order));
    open.order.steps.push_back(std::move(made));
    open.programs.push_back(step.program);
  }
  open.common = batch.common;
  batch_ = std::move(open);
  auto brought = bring_batch();
  if (!brought) batch_.reset();
  return brought;
}

// The process that drives the GPU knows the batch; it may be another one than before.
Result<void> CudaDevice::bring_batch() {
  for (const std::shared_ptr<Program>& any : batch_->programs) {
    CudaProgram& program = own(*any);
    ASSAY_TRY_VOID(gpu_.ensure_module(program, false, std::array<std::uint32_t, 1>{0}));
  }
  if (batch_->start == gpu_.starts() && gpu_.running()) return {};
  ASSAY_TRY(const Reply reply, gpu_.open_batch(batch_->order, batch_->common));
  batch_->start = gpu_.starts();
  if (reply.stage == Stage::done) return {};
  if (reply.stage == Stage::memory)
    return user_error({}, "the GPU has no room for a wave of {} cases ({} MiB)", batch_->order.wave_cases,
                      lane_layout(batch_->order).bytes >> 20);
  if (reply.stage == Stage::launch) return user_error({}, "{}", reply.text);
  return environment_error({}, "{}: {}", name(), reply.text);
}

Result<void> CudaDevice::submit(std::span<const std::byte> given, std::size_t cases, bool timed) {
  ASSAY_CHECK(batch_ && batch_->cases == 0, "a submit without an open batch, or before a collect");
  ASSAY_CHECK(cases > 0 && given.size() == cases * batch_->order.given_bytes, "{} bytes given for {} cases",
              given.size(), cases);
  const StagingLayout staging = staging_layout(batch_->order, cases);
  if (staging.bytes > staging_capacity)
    return user_error({}, "{} cases at once need {} MiB of memory to pass through (at most {} MiB)", cases,
                      staging.bytes >> 20, staging_capacity >> 20);
  ASSAY_TRY_VOID(bring_batch());
  std::ranges::copy(given, gpu_.memory().staging());
  gpu_.begin_batch(cases, timed);
  batch_->cases = cases;
  return {};
}

Result<BatchOutcome> CudaDevice::collect() {
  ASSAY_CHECK(batch_ && batch_->cases > 0, "a collect without a submit");
  const std::size_t cases = std::exchange(batch_->cases, 0);
  Gpu::BatchEnd end = gpu_.end_batch();
  BatchOutcome outcome;
  outcome.done = end.answered == Answered::yes && end.reply.stage == Stage::done;
  if (end.answered == Answered::too_late) {
    outcome.why = fmt::format("{} cases did not end within {:g} s", cases,
                              static_cast<double>(end.limit.count()) / 1000);
    gpu_.be_impatient();
  } else if (end.answered == Answered::died) {
    outcome.why = fmt::format("the CUDA driver ended its process ({})", gpu_.last_words());
  } else {
    outcome.why = end.reply.text;
  }
  if (!outcome.done) return outcome;
  outcome.step_seconds = std::move(end.step_seconds);
  const StagingLayout staging = staging_layout(batch_->order, cases);
  for (std::size_t i = 0; i < staging.results.size(); ++i) {
    const std::byte* from = gpu_.memory().staging() + staging.results[i];
    outcome.results.emplace_back(from, from + cases * batch_->order.result_bytes[i]);
  }
  return outcome;
}

} // namespace assay::cuda
