// assay run: the target alone on given arrays, for scripts and for other tools' protocols on the same kernel.
#include "fuzz/open_device.h"
#include "harness/base/files.h"
#include "harness/export/exported.h"
#include "harness/export/npz.h"
#include "harness/inputs/legal.h"
#include "harness/run/describe.h"
#include "harness/run/execute.h"
#include "harness/run/failing.h"
#include "harness/run/kernel.h"
#include "harness/run/kernel_parts.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/manifest_path.h"
#include "tools/output_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace assay {

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 31; // of all arrays of one file

struct RunArguments {
  std::string kernel, in, out, dims, dtype, device;
};

class Arrays {
 public:
  Arrays(std::vector<NpzArray> arrays, std::string file)
      : arrays_(std::move(arrays)), file_(std::move(file)) {}

  const NpzArray* find(const std::string& name) const {
    const auto found = std::ranges::find(arrays_, name, &NpzArray::name);
    return found == arrays_.end() ? nullptr : &*found;
  }
  Place place() const { return {file_}; }
  const std::vector<NpzArray>& all() const { return arrays_; }

 private:
  std::vector<NpzArray> arrays_;
  std::string file_;
};

bool is_given(Role role) { return role == Role::input || role == Role::upstream; }

// "rows=3,cols=257"
Result<Dims> parse_dims(std::string_view text) {
  Dims dims;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const std::size_t equals = item.find('=');
    std::int64_t size = 0;
    const char* const end = item.data() + item.size();
    if (equals == std::string_view::npos || equals == 0 ||
        std::from_chars(item.data() + equals + 1, end, size).ptr != end || equals + 1 == item.size() ||
        size < 0)
      return user_error({}, "--dims takes rows=3,cols=257, not '{}'", item);
    const std::string name(item.substr(0, equals));
    if (dim_value(dims, name) >= 0) return user_error({}, "--dims gives {} twice", name);
    dims.emplace_back(name, size);
  }
  return dims;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

// The arrays' type, where they tell it: --dtype, else the first type of the manifest that fits every array of
// type T.
Result<DType> dtype_of(const Kernel& kernel, const Arrays& arrays, const std::string& asked) {
  const CaseSpace& space = kernel.space();
  if (!asked.empty()) {
    const auto dtype = parse_dtype(asked);
    if (!dtype || std::ranges::find(space.dtypes, *dtype) == space.dtypes.end())
      return user_error({}, "--dtype {} is none of the kernel's types", asked);
    return *dtype;
  }
  for (const DType dtype : space.dtypes)
    if (std::ranges::all_of(kernel.op().info().tensors, [&](const TensorInfo& tensor) {
          const NpzArray* const array = tensor.dtype ? nullptr : arrays.find(tensor.name);
          return array == nullptr || array->descriptor == numpy_descriptor(dtype);
        }))
      return dtype;
  return user_error(arrays.place(),
                    "the arrays' types fit none of the kernel's; bf16 travels as uint16, fp8 as uint8");
}

Result<std::int64_t> size_in(const NpzArray& array, const Place& place) {
  std::int64_t size = -1;
  if (array.descriptor == "<i8" && array.bytes.size() == sizeof size)
    std::memcpy(&size, array.bytes.data(), sizeof size);
  if (size < 0) return user_error(place, "size '{}' is one int64, 0 or more", array.name);
  return size;
}

// Each dim as --dims says, else as an array's shape shows it, else as the number of its name, else its only
// size.
Result<Dims> dims_of(const Kernel& kernel, const Arrays& arrays, const Dims& asked) {
  const OpInfo& info = kernel.op().info();
  for (const auto& [name, size] : asked)
    if (std::ranges::find(info.dims, name, &DimInfo::name) == info.dims.end())
      return user_error({}, "--dims: {} has no dim '{}'", info.name, name);
  Dims dims;
  for (const DimRange& range : kernel.space().dims) {
    std::int64_t size = dim_value(asked, range.name);
    for (const TensorInfo& tensor : info.tensors) {
      const NpzArray* const array = is_given(tensor.role) ? arrays.find(tensor.name) : nullptr;
      if (array == nullptr || array->shape.size() != tensor.shape.size()) continue;
      for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        if (size < 0 && tensor.shape[i] == range.name) size = array->shape[i];
    }
    if (const NpzArray* const number = arrays.find(range.name); size < 0 && number != nullptr) {
      ASSAY_TRY(size, size_in(*number, arrays.place()));
    }
    if (size < 0 && range.min == range.max) size = range.min;
    if (size < 0)
      return user_error(arrays.place(), "no array tells the size of '{}': say --dims {}=N", range.name,
                        range.name);
    dims.emplace_back(range.name, size);
  }
  return dims;
}

// A number in an array of no dimensions, for the operator's parameters.
Result<double> number_in(const NpzArray& array, const Place& place) {
  double value = 0;
  if (array.descriptor == "<f8" && array.bytes.size() == 8) {
    std::memcpy(&value, array.bytes.data(), 8);
    return value;
  }
  if (array.descriptor == "<i8" && array.bytes.size() == 8) {
    std::int64_t integer = 0;
    std::memcpy(&integer, array.bytes.data(), 8);
    return static_cast<double>(integer);
  }
  return user_error(place, "parameter '{}' is one float64 or int64", array.name);
}

// The manifest says between which values a search may choose; an array says which one it is here.
Result<void> set_params(KernelParts& parts, const Arrays& arrays) {
  for (const ParamInfo& param : parts.op->info().params)
    if (const NpzArray* const array = arrays.find(param.name)) {
      ASSAY_TRY(const double value, number_in(*array, arrays.place()));
      std::vector<ParamText>& params = parts.manifest.params;
      std::erase_if(params, [&](const ParamText& text) { return text.name == param.name; });
      params.push_back({param.name, {value}, arrays.place()});
    }
  return {};
}

// What `assay export` writes for the record is known, too, and not read.
bool is_known(const std::string& array, const OpInfo& info) {
  const auto tensor = std::ranges::find(info.tensors, array, &TensorInfo::name);
  return (tensor != info.tensors.end() && is_given(tensor->role)) ||
         std::ranges::find(info.params, array, &ParamInfo::name) != info.params.end() ||
         std::ranges::find(info.dims, array, &DimInfo::name) != info.dims.end() || is_record(array, info);
}

Result<Case> case_of(const Kernel& kernel, const Arrays& arrays, const Dims& asked,
                     const std::string& dtype) {
  const OpInfo& info = kernel.op().info();
  for (const NpzArray& array : arrays.all())
    if (!is_known(array.name, info))
      return user_error(arrays.place(), "'{}' is no input, upstream gradient, parameter or size of {}",
                        array.name, info.name);
  const bool backward = std::ranges::any_of(info.tensors, [&](const TensorInfo& tensor) {
    return tensor.role == Role::upstream && arrays.find(tensor.name) != nullptr;
  });
  if (backward && !kernel.space().has_backward)
    return user_error(arrays.place(), "has gradients, but the kernel has no backward launch");
  Case test_case;
  test_case.manifest = kernel.space().manifest;
  test_case.tolerance = kernel.space().tolerance;
  test_case.pass = backward ? Pass::backward : Pass::forward;
  ASSAY_TRY(test_case.dtype, dtype_of(kernel, arrays, dtype));
  ASSAY_TRY(test_case.dims, dims_of(kernel, arrays, asked));
  const Dims dims = test_case.dims;
  ASSAY_TRY_VOID(make_legal(test_case, kernel.space()));
  for (const auto& [name, size] : dims)
    if (dim_value(test_case.dims, name) != size)
      return user_error(arrays.place(), "{}={} is not a size that the manifest allows", name, size);
  return with_usual_inputs(kernel, std::move(test_case));
}

// The arrays as the plan's tensors, in its order.
Result<std::vector<Tensor>> inputs_of(const Plan& plan, const Arrays& arrays) {
  std::vector<Tensor> inputs;
  for (const PlannedTensor& planned : plan.tensors) {
    Tensor& input = inputs.emplace_back(planned.dtype, planned.shape);
    if (!planned.present || !is_given(planned.info->role)) continue;
    const std::string& name = planned.info->name;
    const NpzArray* const array = arrays.find(name);
    if (array == nullptr)
      return user_error(arrays.place(), "has no array '{}' of shape {}", name, shape_text(planned.shape));
    if (array->shape != planned.shape)
      return user_error(arrays.place(), "'{}' has shape {}, where {} is right", name,
                        shape_text(array->shape), shape_text(planned.shape));
    if (array->descriptor != numpy_descriptor(planned.dtype))
      return user_error(arrays.place(), "'{}' is of type {}, where {} is right for {}", name,
                        array->descriptor, numpy_descriptor(planned.dtype), name_of(planned.dtype));
    const auto* const bytes = reinterpret_cast<const std::byte*>(array->bytes.data());
    input.bytes.assign(bytes, bytes + array->bytes.size());
  }
  return inputs;
}

// What the device saw, one line each on standard error; true where there was anything but notes.
bool tell_faults(const Plan& plan, const Execution& execution) {
  bool any = false;
  for (const auto& [pass, fault] : execution.faults) {
    any |= !fault.note;
    fmt::print(stderr, "assay: {}{} in the {} pass: {}\n", fault.note ? "note: " : "", name_of(fault.kind),
               name_of(pass), fault.message);
  }
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    if (execution.unwritten[i].empty()) continue;
    any = true;
    fmt::print(
        stderr, "assay: unwritten: no launch wrote {}\n",
        element_text(plan.tensors[i].info->name, plan.tensors[i].shape, execution.unwritten[i].front()));
  }
  return any;
}

Outcome run_run(const RunArguments& arguments) {
  ASSAY_TRY(const Dims asked, parse_dims(arguments.dims));
  ASSAY_TRY(const std::filesystem::path manifest, resolve_manifest(arguments.kernel));
  ASSAY_TRY_VOID(check_output_file(arguments.out, ".npz"));
  std::error_code ec;
  if (std::filesystem::equivalent(arguments.in, arguments.out, ec))
    return user_error(Place{arguments.out}, "is what --in reads: give another file to write");
  ASSAY_TRY(const std::string bytes, read_file(arguments.in, most_bytes));
  ASSAY_TRY(std::vector<NpzArray> read, read_npz(bytes, arguments.in, most_bytes));
  const Arrays arrays(std::move(read), arguments.in);
  ASSAY_TRY(const auto device, open_device(arguments.device.empty() ? default_device() : arguments.device));
  const KernelOptions options{.named_by_user = true, .memory_budget = most_bytes};
  ASSAY_TRY(KernelParts parts, read_kernel_parts(manifest, options.named_by_user, options.cache_dir));
  ASSAY_TRY_VOID(set_params(parts, arrays));
  ASSAY_TRY(const auto kernel, Kernel::bind(std::move(parts.manifest), *parts.op,
                                            std::move(parts.source_text), *device, options));
  ASSAY_TRY(const Case test_case, case_of(*kernel, arrays, asked, arguments.dtype));
  ASSAY_TRY(const Plan plan, kernel->plan(test_case));
  ASSAY_TRY(const std::vector<Tensor> inputs, inputs_of(plan, arrays));
  ASSAY_TRY(const Execution execution, execute(*device, plan, inputs, 0));
  const bool faulty = tell_faults(plan, execution);
  if (!execution.finished) {
    fmt::print(stderr, "assay: the launch did not run to its end; nothing is written\n");
    return 1;
  }
  std::vector<NpzArray> outputs;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    const Tensor& output = execution.outputs[i];
    if (!plan.tensors[i].tested) continue;
    outputs.push_back({plan.tensors[i].info->name,
                       std::string(numpy_descriptor(output.dtype)),
                       output.shape,
                       {reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()}});
    fmt::print("{} {} {}\n", outputs.back().name, name_of(output.dtype), shape_text(output.shape));
  }
  ASSAY_TRY(const std::string archive, write_npz(outputs));
  ASSAY_TRY_VOID(write_output(arguments.out, archive));
  return faulty ? 1 : 0;
}

} // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* run = app.add_subcommand(
      "run", "the target alone, on arrays of yours; with upstream gradients, its backward pass");
  run->add_option("kernel", arguments->kernel, "a manifest, or the name of a folder below kernels/")
      ->option_text("KERNEL.toml")
      ->required();
  run->add_option(
         "--in", arguments->in,
         "inputs by the operator's names (parameters as float64 or int64 numbers, sizes that no shape "
         "tells as int64); bf16 and fp8 as uint16 and uint8 bit patterns; what export wrote will do")
      ->option_text("FILE.npz")
      ->required();
  run->add_option("--out", arguments->out, "the outputs, or gradients, by their names")
      ->option_text("FILE.npz")
      ->required();
  run->add_option("--dims", arguments->dims, "sizes that no array's shape tells")
      ->option_text("rows=3,cols=257");
  run->add_option("--dtype", arguments->dtype, "where the arrays fit several of the kernel's types")
      ->option_text("bf16");
  add_device(*run, arguments->device);
  run->footer("Example: assay run kernels/softmax/kernel.toml --in x.npz --out y.npz");
  run->callback([arguments, &invocation] { invocation.outcome = run_run(*arguments); });
}

} // namespace assay
