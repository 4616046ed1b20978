#include "harness/screen/case_plan.h"

#include "harness/run/trial.h"

#include <algorithm>
#include <limits>

namespace assay {

namespace {

using screen::CasePlan, screen::TensorSlot;

constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max();
// Beyond, the golden's bound would not be one (device/lean_golden.h: second_order).
constexpr std::int64_t longest_axis = (std::int64_t{1} << 17) - 64;
constexpr std::uint64_t most_scratch = std::uint64_t{4} << 30;
constexpr std::uint32_t full_gpu = 1024;
constexpr std::int32_t large_tensor = 1 << 18;

// Plain text inside the program, where the formula takes scratch for its lines (device/lines.h).
bool takes_line_scratch(const PtxSource& program) { return program.text.contains("assay: line scratch"); }

std::unexpected<Error> too_much(const OpInfo& op, std::string_view what) {
  return user_error({}, "{}: the screen is not told of so {}", op.name, what);
}

// The terms behind the longest sum, by a lower bound of what gate_rule() (run/trial.h) says.
double flushed_terms(const OpInfo& op, const Plan& plan, const PlannedTensor& output) {
  std::int64_t met = 1;
  if (!op.reduces) return 1;
  for (const PlannedTensor& tensor : plan.tensors) {
    const Role role = tensor.info->role;
    if (role != Role::input && !(role == Role::upstream && plan.pass == Pass::backward)) continue;
    std::int64_t along = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d)
      if (std::ranges::find(output.info->shape, tensor.info->shape[d]) == output.info->shape.end())
        along *= tensor.shape[d];
    met = std::max(met, along);
  }
  return static_cast<double>(met);
}

Result<TensorSlot> tensor_slot(const OpInfo& op, const PlannedTensor& tensor, std::uint64_t offset) {
  TensorSlot slot;
  const std::size_t rank = tensor.shape.size();
  if (rank > screen::max_rank) return too_much(op, "many axes");
  slot.offset = offset;
  slot.rank = static_cast<std::int8_t>(rank);
  slot.dtype = static_cast<std::uint8_t>(tensor.dtype);
  slot.role = static_cast<std::uint8_t>(tensor.info->role);
  slot.present = tensor.present;
  slot.dense = tensor.strides.empty();
  std::int64_t count = 1, extent = 0;
  for (std::size_t d = rank; d-- > 0;) {
    const std::int64_t size = tensor.shape[d], stride = slot.dense ? count : tensor.strides[d];
    if (size > most_elements || stride > most_elements || (size != 0 && count > most_elements / size))
      return too_much(op, "many elements");
    slot.shape[d] = static_cast<std::int32_t>(size);
    slot.strides[d] = static_cast<std::int32_t>(stride);
    count *= size;
    extent += size == 0 ? 0 : (size - 1) * stride;
  }
  if (extent > most_elements) return too_much(op, "many elements");
  slot.count = static_cast<std::int32_t>(count);
  return slot;
}

// How many lines may store the tensor, by its shape: a row each, or of one axis an element each.
std::int64_t lines_of(const OpInfo& op, const TensorSlot& slot) {
  if (slot.rank <= 1) return op.dims.size() == 1 ? 1 : slot.count;
  return slot.count / std::max(slot.shape[slot.rank - 1], 1);
}

// The last axes of the tensors with half as many elements as the largest, or more: what lies along them is
// read side by side by threads that walk across. (A small tensor's [rows] beside [rows, cols] says nothing.)
std::uint32_t inner_dims(const OpInfo& op, const Plan& plan, std::span<const TensorSlot> slots) {
  std::int32_t most = 0;
  for (const TensorSlot& slot : slots) most = std::max(most, slot.count);
  std::uint32_t inner = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::vector<std::string>& shape = plan.tensors[i].info->shape;
    if (shape.empty() || slots[i].count < most / 2) continue;
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (shape.back() == op.dims[d].name) inner |= 1u << d;
  }
  return inner;
}

} // namespace

Result<CasePlan> case_plan(const OpInfo& op, const Plan& plan, const Tolerance& tolerance,
                           std::span<const std::uint64_t> offsets, const PtxSource& program) {
  CasePlan result;
  if (plan.dims.size() > screen::max_dims || plan.params.size() > screen::max_params)
    return too_much(op, "many dims or params");
  if (plan.tensors.size() > screen::max_tensors) return too_much(op, "many tensors");
  std::ranges::copy(plan.dims, result.dims);
  std::ranges::copy(plan.params, result.params);
  result.fudge = tolerance.fudge;
  result.atol = tolerance.atol;
  result.reference_limit = tolerance.reference_limit;
  result.dtype = static_cast<std::uint8_t>(plan.dtype);
  result.pass = static_cast<std::uint8_t>(plan.pass);
  result.tensor_count = static_cast<std::int32_t>(plan.tensors.size());

  std::int64_t longest = 1, lines = 8;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlannedTensor& tensor = plan.tensors[i];
    ASSAY_TRY(TensorSlot slot, tensor_slot(op, tensor, offsets[i]));
    for (const std::int64_t size : tensor.shape) longest = std::max(longest, size);
    if (tensor.tested) {
      if (result.output_count == screen::max_outputs) return too_much(op, "many outputs");
      slot.output = static_cast<std::int8_t>(result.output_count++);
      slot.ulp_limit = ulp_limit(tolerance, tensor.dtype, op);
      if (tolerance.flush_subnormals && tensor.dtype != DType::f64)
        slot.flush_floor = 0x1p-126 * flushed_terms(op, plan, tensor);
      lines += lines_of(op, slot);
    }
    result.tensors[i] = slot;
  }
  result.inner_dims = inner_dims(op, plan, std::span(result.tensors, plan.tensors.size()));
  if (longest > longest_axis) return too_much(op, "long an axis");
  result.longest = static_cast<std::int32_t>(longest);
  result.most_lines = static_cast<std::int32_t>(std::min(lines, most_elements));
  const double roundings = static_cast<double>(64 + longest) * 1.0625;
  result.golden_unit = roundings * (plan.dtype == DType::f64 ? 0x1p-96 : 0x1p-53);
  if (takes_line_scratch(program)) result.line_scratch = 2 * result.longest;
  return result;
}

JudgeNeeds judge_needs(const CasePlan& plan, std::uint32_t threads) {
  JudgeNeeds needs;
  for (const TensorSlot& slot : plan.tensors)
    if (slot.count >= large_tensor) needs.threads = screen::most_judge_threads;
  if (threads != 0) needs.threads = threads;
  constexpr std::uint64_t number = screen::largest_number, line_record = 16, padding = 16; // bytes
  std::uint64_t bytes = 4096;
  for (const TensorSlot& slot : std::span(plan.tensors, static_cast<std::size_t>(plan.tensor_count))) {
    if (slot.output < 0) continue;
    const std::uint64_t own = size_of(static_cast<DType>(slot.dtype)), size = own == 1 ? 4 : own;
    bytes += static_cast<std::uint64_t>(slot.count) * size + padding; // its reference
  }
  bytes += static_cast<std::uint64_t>(plan.most_lines) * line_record *
           static_cast<std::uint64_t>(std::max(plan.output_count, 1));
  bytes += 4 * (number * static_cast<std::uint64_t>(plan.longest) + padding); // Run::scratch
  const std::uint64_t teams = screen::line_a_thread(plan.line_scratch) ? needs.threads : needs.threads / 32;
  bytes += teams * (number * static_cast<std::uint64_t>(plan.line_scratch) + padding);

  needs.scratch_bytes = (bytes + 255) / 256 * 256;
  needs.most_blocks =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most_scratch / needs.scratch_bytes, 1, full_gpu));
  return needs;
}

} // namespace assay
