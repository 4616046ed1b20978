#include "harness/run/plan.h"

#include "harness/base/check.h"
#include "harness/run/kernel.h"
#include "harness/run/sizes.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace assay {

namespace {

using Shape = std::vector<std::int64_t>;

// Elements from the first to the last that shape and strides name; nullopt where that overflows.
std::optional<std::uint64_t> extent(const Shape& shape, const Shape& strides) {
  std::int64_t last = 0, dense = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return 0;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides.empty() ? dense : std::abs(strides[i]), &reach) ||
        __builtin_add_overflow(last, reach, &last) || __builtin_mul_overflow(dense, shape[i], &dense))
      return std::nullopt;
  }
  return static_cast<std::uint64_t>(last) + 1;
}

class Memory {
 public:
  Memory(const Case& test_case, std::uint64_t budget) : case_(&test_case), budget_(budget) {}

  Result<void> add(const std::string& name, DType dtype, const Shape& shape, const Shape& strides,
                   std::int64_t offset) {
    const auto elements = extent(shape, strides);
    const std::uint64_t room = (budget_ - bytes_) / size_of(dtype);
    if (!elements || offset < 0 || static_cast<std::uint64_t>(offset) > room ||
        *elements > room - static_cast<std::uint64_t>(offset))
      return user_error(
          case_->lines.place("dims"),
          "'{}' does not fit: the buffers of one case may have {} bytes in all; choose smaller dims", name,
          budget_);
    bytes_ += (*elements + static_cast<std::uint64_t>(offset)) * size_of(dtype);
    return {};
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  const Case* case_;
  std::uint64_t budget_, bytes_ = 0;
};

Result<Shape> evaluate_shape(const std::vector<Expression>& expressions, const Scope& scope) {
  Shape shape;
  for (const Expression& expression : expressions) {
    ASSAY_TRY(const std::int64_t size, expression.evaluate(scope));
    if (size < 0)
      return user_error(expression.place(), "'{}' is a size, but is {} here", expression.text(), size);
    shape.push_back(size);
  }
  return shape;
}

Result<Dim3> evaluate_dim3(const std::vector<Expression>& expressions, const Scope& scope) {
  ASSAY_TRY(Shape sizes, evaluate_shape(expressions, scope));
  sizes.resize(3, 1);
  return Dim3{static_cast<std::uint64_t>(sizes[0]), static_cast<std::uint64_t>(sizes[1]),
              static_cast<std::uint64_t>(sizes[2])};
}

bool runs_in(Pass pass, Role role) {
  return role == Role::input || role == Role::output || pass == Pass::backward;
}

Result<Scalar> integer_argument(const BoundArgument& argument, std::int64_t value, std::uint8_t bytes) {
  if (bytes == 4 &&
      (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()))
    return user_error(argument.place, "'{}' is {} here, which does not fit 32 bits: write \"{}:i64\"",
                      argument.text, value, argument.text);
  return Scalar{static_cast<std::uint64_t>(value), bytes};
}

std::int64_t dense_stride(const Shape& shape, std::size_t dim) {
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > dim + 1;)
    stride *= std::max<std::int64_t>(1, shape[i]); // as torch: never 0
  return stride;
}

Scalar param_argument(const ParamInfo& param, double value) {
  if (param.dtype == DType::f32) return {std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4};
  return {static_cast<std::uint32_t>(static_cast<std::int32_t>(value)), 4};
}

Result<PlannedArgument> plan_argument(const BoundArgument& argument, const Plan& plan, const OpInfo& op,
                                      const Sizes& sizes, std::uint32_t param_bytes) {
  using Form = BoundArgument::Form;
  const auto dim = static_cast<std::size_t>(argument.of_dim);
  switch (argument.form) {
  case Form::tensor:
    return TensorArgument{argument.index};
  case Form::scratch:
    return ScratchArgument{argument.index};
  case Form::dim:
    return integer_argument(argument, sizes.dims[argument.index], argument.bytes);
  case Form::let:
    return integer_argument(argument, sizes.lets[argument.index], argument.bytes);
  case Form::size:
    return integer_argument(argument, plan.tensors[argument.index].shape[dim], argument.bytes);
  case Form::stride: {
    const PlannedTensor& tensor = plan.tensors[argument.index];
    return integer_argument(argument,
                            tensor.strides.empty() ? dense_stride(tensor.shape, dim) : tensor.strides[dim],
                            argument.bytes);
  }
  case Form::scratch_size:
    return integer_argument(argument, plan.scratch[argument.index].shape[dim], argument.bytes);
  case Form::scratch_stride:
    return integer_argument(argument, dense_stride(plan.scratch[argument.index].shape, dim), argument.bytes);
  case Form::param:
    return param_argument(op.params[argument.index], plan.params[argument.index]);
  case Form::zero:
    return Scalar{0, static_cast<std::uint8_t>(param_bytes)};
  case Form::null:
    return Scalar{0, 8};
  }
  return internal_error("unknown form of argument");
}

} // namespace

Result<Plan> Kernel::plan(const Case& test_case) {
  ASSAY_TRY_VOID(check_case(test_case, space_));
  const OpInfo& info = op_->info();
  Plan plan;
  plan.pass = test_case.pass;
  plan.dtype = test_case.dtype;
  const auto value_of = [](const auto& list, const std::string& name) {
    const auto found = std::ranges::find(list, name, [](const auto& item) { return item.first; });
    ASSAY_CHECK(found != list.end(), "check_case() let a case without '{}' through", name);
    return found->second;
  };
  for (const DimInfo& dim : info.dims) plan.dims.push_back(value_of(test_case.dims, dim.name));
  for (const ParamInfo& param : info.params)
    plan.params.push_back(round_param(param, value_of(test_case.params, param.name)));
  ASSAY_TRY(const Sizes sizes, evaluate_sizes(manifest_, info, plan.dims));
  const Scope scope = scope_of(manifest_, info, sizes);

  Memory memory(test_case, options_.memory_budget);
  for (std::size_t i = 0; i < info.tensors.size(); ++i) {
    const TensorInfo& tensor = info.tensors[i];
    PlannedTensor planned;
    planned.info = &tensor;
    planned.dtype = tensor.dtype.value_or(plan.dtype);
    planned.present = runs_in(plan.pass, tensor.role);
    planned.tested =
        binding_.named[i] && tensor.role == (plan.pass == Pass::forward ? Role::output : Role::gradient);
    ASSAY_TRY(planned.shape, evaluate_shape(binding_.tensor_shapes[i], scope));
    if (const auto input = std::ranges::find(test_case.inputs, tensor.name, &TensorInput::tensor);
        input != test_case.inputs.end()) {
      planned.strides = input->layout.strides;
      planned.offset = input->layout.offset;
    }
    if (planned.present)
      ASSAY_TRY_VOID(memory.add(tensor.name, planned.dtype, planned.shape, planned.strides, planned.offset));
    plan.tensors.push_back(std::move(planned));
  }
  for (const ScratchText& text : manifest_.scratch) {
    PlannedScratch scratch{text.name, text.dtype.value_or(plan.dtype), {}, text.zero};
    ASSAY_TRY(scratch.shape, evaluate_shape(text.shape, scope));
    ASSAY_TRY_VOID(memory.add(scratch.name, scratch.dtype, scratch.shape, {}, 0));
    plan.scratch.push_back(std::move(scratch));
  }
  plan.device_bytes = memory.bytes();

  ASSAY_TRY(const std::vector<std::string> names, expanded_names(manifest_, info, sizes, plan.dtype));
  ASSAY_TRY(const Loaded* loaded, program(plan.dtype, names));
  plan.program = loaded->program;
  plan.keeps_state = loaded->keeps_state;
  for (std::size_t i = 0; i < manifest_.launches.size(); ++i) {
    const LaunchText& text = manifest_.launches[i];
    if (text.pass == Pass::backward && plan.pass == Pass::forward) continue;
    PlannedLaunch launch;
    launch.pass = text.pass;
    launch.name = names[i];
    launch.entry = loaded->entries[i];
    ASSAY_TRY(launch.grid, evaluate_dim3(text.grid, scope));
    ASSAY_TRY(launch.block, evaluate_dim3(text.block, scope));
    ASSAY_TRY(const std::int64_t shared, text.shared.evaluate(scope));
    if (shared < 0)
      return user_error(text.shared.place(), "'{}' is a size in bytes, but is {} here", text.shared.text(),
                        shared);
    launch.shared_bytes = static_cast<std::uint64_t>(shared);
    for (std::size_t k = 0; k < binding_.args[i].size(); ++k) {
      ASSAY_TRY(PlannedArgument argument,
                plan_argument(binding_.args[i][k], plan, info, sizes, loaded->param_bytes[i][k]));
      launch.args.push_back(argument);
    }
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace assay
