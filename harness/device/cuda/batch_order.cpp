#include "harness/device/cuda/batch_order.h"

#include <limits>

namespace assay::cuda {

namespace {

// Sizes from a caller; what is too large for any memory stays so.
std::size_t times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max() : product;
}

// Takes `bytes` from `end` on, aligned: where they begin.
std::size_t reserve(std::size_t& end, std::size_t bytes) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 4;
  const std::size_t begin = (end + batch_alignment - 1) / batch_alignment * batch_alignment;
  end = bytes > most || begin > most ? most : begin + bytes;
  return begin;
}

} // namespace

void OrderedStep::put(Writer& out) const {
  out.put(over);
  out.put(module);
  out.put(function);
  out.put(grid);
  out.put(block);
  out.put(shared_bytes);
  out.put_all(args);
}

OrderedStep OrderedStep::take(Reader& in) {
  OrderedStep step;
  step.over = in.take<BatchStep::Over>();
  step.module = in.take<std::uint32_t>();
  step.function = in.take<std::uint32_t>();
  step.grid = in.take<std::array<std::uint32_t, 3>>();
  step.block = in.take<std::array<std::uint32_t, 3>>();
  step.shared_bytes = in.take<std::uint32_t>();
  step.args = in.take_all<BatchArgument>();
  return step;
}

void BatchOrder::put(Writer& out) const {
  out.put(common_bytes);
  out.put(given_bytes);
  out.put(slot_bytes);
  out.put(scratch_bytes);
  out.put_all(result_bytes);
  out.put(wave_cases);
  out.put(wave_twins);
  out.put(steps.size());
  for (const OrderedStep& step : steps) step.put(out);
  out.put(tuning);
}

BatchOrder BatchOrder::take(Reader& in) {
  BatchOrder order;
  order.common_bytes = in.take<std::size_t>();
  order.given_bytes = in.take<std::size_t>();
  order.slot_bytes = in.take<std::size_t>();
  order.scratch_bytes = in.take<std::size_t>();
  order.result_bytes = in.take_all<std::size_t>();
  order.wave_cases = in.take<std::uint32_t>();
  order.wave_twins = in.take<std::uint32_t>();
  order.steps.resize(in.take<std::size_t>());
  for (OrderedStep& step : order.steps) step = OrderedStep::take(in);
  order.tuning = in.take<BatchTuning>();
  return order;
}

LaneLayout lane_layout(const BatchOrder& order) {
  LaneLayout layout;
  layout.given = reserve(layout.bytes, times(order.wave_cases, order.given_bytes));
  layout.slots = reserve(layout.bytes, times(order.wave_slots(), order.slot_bytes));
  layout.scratch = reserve(layout.bytes, order.scratch_bytes);
  for (const std::size_t bytes : order.result_bytes)
    layout.results.push_back(reserve(layout.bytes, times(order.wave_slots(), bytes)));
  layout.bytes = (layout.bytes + batch_alignment - 1) / batch_alignment * batch_alignment;
  return layout;
}

StagingLayout staging_layout(const BatchOrder& order, std::size_t cases) {
  StagingLayout layout;
  layout.bytes = times(cases, order.given_bytes);
  for (const std::size_t bytes : order.result_bytes)
    layout.results.push_back(reserve(layout.bytes, times(cases, bytes)));
  return layout;
}

} // namespace assay::cuda
