// The judging program: each block takes one case after another, lets the reference and then the golden run
// over it, and says of each output how far inside its limits it is.
#pragma once

#include "harness/screen/device/lines.h"

namespace assay::screen {

// Of one output, from its elements and the records of its lines (numerics/gate.cpp: the same in full). All
// threads of the block call it; the result is complete in each.
template <class J> struct OutputJudge {
  const CasePlan& plan;
  const TensorSpec& spec;
  const TensorSlot& slot;
  const OutputErrors& errors; // of the whole block
  const LineRecord* records;  // of the first line; the next one's lie plan.output_count before it
  std::int32_t lines;
  Exchange& exchange;

  std::uint32_t reasons = 0;
  OutputRecord record;

  void run() {
    if (errors.count != slot.count) reasons |= line_unclear;
    if (J::is_exact(spec)) return;
    whole();
    each_line();
    if (J::judges_ulps) record.ulps = static_cast<float>(errors.ulps);
    bias();
  }

 private:
  static double ratio_of(double error, double threshold) { return error == 0 ? 0 : error / threshold; }
  double floor_with(double rounding) const {
    return std::fmax(std::fmax(plan.atol, rounding), slot.flush_floor);
  }
  // Each error may be off by the golden's bound. Where t is r throughout no golden can accuse it.
  std::uint32_t reasons_of(double target, double threshold, double bound, bool differs) const {
    if (!differs && plan.fudge >= 1) return 0;
    std::uint32_t result = 0;
    if (!(target + bound <= close * (threshold - (plan.fudge + 1) * bound))) result |= gate_close;
    if (!(bound <= 0.01 * close * threshold)) result |= gate_invalid;
    return result;
  }

  // A suspect is a target that is 0.1 ULP off on average over 256 elements or more, while the reference is
  // less than 0.05 (numerics/bias.h, run/trial.cpp); so they are 0.05 apart.
  void bias() {
    constexpr int enough = 256;
    constexpr float share = static_cast<float>(close);
    const auto least = static_cast<float>(errors.rounded > 0 ? errors.rounded : 1);
    record.bias = errors.target_bias / least;
    record.reference_bias = errors.reference_bias / least;
    if (errors.rounded + errors.unclear < enough) return;
    const float target = std::fabs(errors.target_bias) + errors.unclear_target;
    const float apart = std::fabs(errors.target_bias - errors.reference_bias) + errors.unclear_difference;
    if (target <= 0.1f * share * least || apart <= 0.05f * share * least) return;
    if (errors.unclear == 0 && std::fabs(record.reference_bias) >= 0.055f) return;
    reasons |= bias_close;
  }

  void whole() {
    const Maxima& m = errors.maxima;
    const double reference = at_least(m.reference), target = at_most(m.target);
    const double bound = plan.golden_unit * at_most(m.magnitude);
    const double floor = floor_with(at_least(m.rounding));
    const double threshold = plan.fudge * reference + floor;
    const double ratio = ratio_of(target, threshold);
    record.ratio = static_cast<float>(ratio);
    record.target_error = static_cast<float>(target);
    record.reference_error = static_cast<float>(reference);
    record.threshold = static_cast<float>(threshold);
    reasons |= reasons_of(target, threshold, bound, m.differs != 0);
    const double scale = std::fmax(at_least(errors.scale), floor);
    if (m.reference != 0 && !(at_most(m.reference) + bound <= close * plan.reference_limit * scale))
      reasons |= gate_invalid;
  }

  struct Worst {
    double value = 0;
    std::uint32_t reasons = 0, unused = 0;
  };
  const LineRecord& of_line(std::int32_t line) const {
    return records[-static_cast<std::int64_t>(line) * plan.output_count];
  }
  void each_line() {
    const Team block = Team::of(block_threads());
    const auto join = [](Worst& a, const Worst& b) {
      a.value = b.value > a.value ? b.value : a.value;
      a.reasons |= b.reasons;
    };
    Worst rho;
    for (std::int32_t line = block.lane; line < lines; line += block_threads()) {
      const LineRecord& of = of_line(line);
      if (of.magnitude == 0) continue;
      const double share = at_least(of.reference) / at_most(of.magnitude);
      rho.value = share > rho.value ? share : rho.value;
    }
    rho = block.merged(rho, join, exchange);
    Worst worst;
    for (std::int32_t line = block.lane; line < lines; line += block_threads()) {
      const LineRecord& of = of_line(line);
      const double error = at_most(of.target & 0x7fffffff), magnitude = at_least(of.magnitude);
      const double reach = std::fmax(rho.value * magnitude, at_least(of.reference));
      const double threshold = plan.fudge * reach + floor_with(at_least(of.rounding));
      const double bound = plan.golden_unit * at_most(of.magnitude); // rho may be off by golden_unit
      worst.reasons |= reasons_of(error, threshold, bound, of.target >> 31 != 0);
      const double ratio = ratio_of(error, threshold);
      worst.value = ratio > worst.value ? ratio : worst.value;
    }
    worst = block.merged(worst, join, exchange);
    record.line_ratio = static_cast<float>(worst.value);
    reasons |= worst.reasons;
  }
};

// The block's threads judge the case whose tensors lie at `slot`.
template <class J>
__forceinline__ void judge_case(const CasePlan& plan, const unsigned char* slot, unsigned char* scratch_begin,
                                std::uint64_t scratch_bytes, Exchange& exchange, Record& result) {
  View views[J::tensor_count];
  Scratch scratch{scratch_begin, scratch_begin + scratch_bytes / 16 * 16};
#pragma unroll
  for (int k = 0; k < J::tensor_count; ++k) {
    const TensorSlot& tensor = plan.tensors[k];
    View& view = views[k];
    view.data = slot + tensor.offset;
    view.count = tensor.count;
    for (int axis = 0; axis < max_rank; ++axis)
      view.shape[axis] = tensor.shape[axis], view.strides[axis] = tensor.strides[axis];
    view.tested = J::Formula::tensors[k].role == J::written && tensor.output >= 0;
    // Sums of flushed subnormals have no bias of their own, but how many they are only the host knows.
    if (tensor.flush_floor != 0) view.biased_from = magnitude_word(0x1p-78);
    if (view.tested && (!J::one_form || J::keeps_golden))
      J::with_type(J::Formula::tensors[k], [&]<DType type>() {
        view.reference = scratch.take_low(static_cast<std::int64_t>(tensor.count) * reference_bytes<type>);
      });
    if (J::keeps_golden && view.tested)
      view.golden = reinterpret_cast<double*>(scratch.take_low(std::int64_t{tensor.count} * 24));
  }

  Findings<J> findings;
  findings.records_end = scratch.high;
  const auto run = [&]<class N>(const N&) {
    Run<J, N> formula{plan, views, exchange, scratch, findings};
    if constexpr (J::backward)
      J::Formula::backward(formula);
    else
      J::Formula::forward(formula);
    if (formula.scratch_left.exhausted) findings.reasons |= no_scratch;
  };
  if constexpr (!J::one_form) {
    run(typename J::Reference());
    findings.lines = 0;
    __syncthreads();
  }
  run(typename J::template Golden<false>());
  if (__syncthreads_or(findings.is_unclear())) {
    findings.forget_golden();
    run(typename J::template Golden<true>());
  }

  const Team block = Team::of(block_threads());
  const auto join = [](OutputErrors& a, const OutputErrors& b) { a.join(b); };
  const auto unite = [](std::uint32_t& a, const std::uint32_t& b) { a |= b; };
  std::uint32_t reasons = block.merged(findings.reasons, unite, exchange);
  float ratio = 0;
#pragma unroll
  for (int k = 0; k < J::tensor_count; ++k) {
    if (!views[k].tested) continue;
    const TensorSlot& tensor = plan.tensors[k];
    const OutputErrors errors = block.merged(findings.outputs[k], join, exchange);
    const LineRecord* records =
        reinterpret_cast<const LineRecord*>(findings.records_end) - plan.output_count + tensor.output;
    const std::int32_t lines = reasons & no_scratch ? 0 : findings.lines;
    OutputJudge<J> judge{plan, J::Formula::tensors[k], tensor, errors, records, lines, exchange};
    judge.run();
    reasons |= judge.reasons;
    if ((judge.reasons | reasons) & (misplaced | mismatch))
      judge.record.ratio = std::numeric_limits<float>::infinity();
    ratio = fmaxf(ratio, fmaxf(judge.record.ratio, judge.record.line_ratio));
    if (threadIdx.x == 0) result.outputs[tensor.output] = judge.record;
  }
  if (threadIdx.x == 0) {
    result.ratio = ratio;
    result.reasons = reasons;
  }
}

template <class J>
__forceinline__ void judge_cases(const CasePlan* plan, const unsigned char* slots, std::uint64_t slot_bytes,
                                 std::uint32_t cases, unsigned char* scratch, std::uint64_t scratch_bytes,
                                 Record* records) {
  __shared__ Exchange exchange;
  unsigned char* own = scratch + blockIdx.x * scratch_bytes;
  for (std::uint32_t c = blockIdx.x; c < cases; c += gridDim.x) {
    judge_case<J>(*plan, slots + c * slot_bytes, own, scratch_bytes, exchange, records[c]);
    __syncthreads();
  }
}

} // namespace assay::screen
