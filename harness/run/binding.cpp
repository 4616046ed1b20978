#include "harness/run/binding.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace assay {

namespace {

template <class Range> std::string listed(const Range& range) {
  std::vector<std::string> names;
  for (const auto& item : range) names.push_back(item.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

template <class Range> std::optional<std::size_t> index_of(const Range& range, std::string_view name) {
  const auto found = std::ranges::find_if(range, [&](const auto& item) { return item.name == name; });
  if (found == std::ranges::end(range)) return std::nullopt;
  return static_cast<std::size_t>(found - std::ranges::begin(range));
}

Result<void> bind_dims(const Manifest& manifest, const OpInfo& op, Binding& binding) {
  for (const DimRange& range : manifest.dims)
    if (!index_of(op.dims, range.name))
      return user_error(range.place, "operator {} has no dimension '{}'; it has {}", op.name, range.name,
                        listed(op.dims));
  for (const DimInfo& dim : op.dims) {
    const auto given = index_of(manifest.dims, dim.name);
    if (!given)
      return user_error(place_of(manifest, "dims"), "dimension '{}' of operator {} is missing in [dims]",
                        dim.name, op.name);
    DimRange range = manifest.dims[*given];
    range.multiple_of = std::lcm(std::max<std::int64_t>(1, range.multiple_of), dim.multiple_of);
    const std::int64_t at_least = std::max(range.min, dim.min);
    const std::int64_t lowest = (at_least + range.multiple_of - 1) / range.multiple_of * range.multiple_of;
    const std::int64_t highest = range.max / range.multiple_of * range.multiple_of;
    if (lowest > highest)
      return user_error(range.place, "dimension '{}' may be {} to {}, but operator {} needs at least {}{}",
                        range.name, range.min, range.max, op.name, dim.min,
                        range.multiple_of > 1 ? fmt::format(", in multiples of {}", range.multiple_of) : "");
    range.min = lowest;
    range.max = highest;
    const auto outside = [&](std::int64_t size) { return size < lowest || size > highest; };
    std::erase_if(range.near, outside);
    std::erase_if(range.production, outside);
    binding.dims.push_back(std::move(range));
  }
  return {};
}

Result<void> bind_params(const Manifest& manifest, const OpInfo& op, Binding& binding) {
  for (const ParamText& text : manifest.params)
    if (!index_of(op.params, text.name))
      return user_error(text.place, "operator {} has no parameter '{}'; it has {}", op.name, text.name,
                        listed(op.params));
  for (const ParamInfo& param : op.params) {
    ParamSpec spec{param.name, {round_param(param, param.initial)}};
    if (const auto given = index_of(manifest.params, param.name)) {
      const ParamText& text = manifest.params[*given];
      if (text.values.empty())
        return user_error(text.place, "parameter '{}' needs at least one value", text.name);
      spec.values.clear();
      for (const double value : text.values) {
        if (param.dtype == DType::i32 && (value != std::floor(value) || std::abs(value) > 2147483647.0))
          return user_error(text.place, "parameter '{}' is an integer of 32 bits, not {}", text.name, value);
        if (!param.choices.empty() && std::ranges::find(param.choices, value) == param.choices.end())
          return user_error(text.place, "parameter '{}' is one of {}, not {}", text.name,
                            fmt::join(param.choices, ", "), value);
        if (!std::isfinite(round_param(param, value)))
          return user_error(text.place, "parameter '{}' is a float of 32 bits, too small for {}", text.name,
                            value);
        spec.values.push_back(round_param(param, value));
      }
    }
    binding.params.push_back(std::move(spec));
  }
  return {};
}

// Names that the manifest adds must not hide each other or the operator's own.
Result<void> check_new_names(const Manifest& manifest, const OpInfo& op) {
  std::set<std::string> taken;
  for (const auto& dim : op.dims) taken.insert(dim.name);
  for (const auto& tensor : op.tensors) taken.insert(tensor.name);
  for (const auto& param : op.params) taken.insert(param.name);
  for (const Let& let : manifest.lets)
    if (!taken.insert(let.name).second)
      return user_error(let.value.place(), "'{}' in [let] is already a name of operator {} or of another let",
                        let.name, op.name);
  for (const ScratchText& scratch : manifest.scratch)
    if (!taken.insert(scratch.name).second)
      return user_error(scratch.place,
                        "scratch buffer '{}' has a name that operator {} or [let] already uses", scratch.name,
                        op.name);
  return {};
}

Result<BoundArgument> bind_argument(const ArgumentText& text, const Manifest& manifest, const OpInfo& op,
                                    const LaunchText& launch) {
  using Form = BoundArgument::Form;
  BoundArgument bound;
  bound.place = text.place;
  bound.text = text.name;
  const auto number = [&](Form form, std::size_t index, std::uint8_t bytes) {
    bound.form = form;
    bound.index = index;
    bound.bytes = text.width ? static_cast<std::uint8_t>(size_of(*text.width)) : bytes;
    return bound;
  };
  if (text.form == ArgumentText::Form::zero) {
    bound.text = "0";
    return number(Form::zero, 0, 0);
  }
  if (text.form == ArgumentText::Form::null) {
    bound.text = "null";
    return bound;
  }
  const auto tensor = index_of(op.tensors, text.name);
  if (tensor && launch.pass == Pass::forward &&
      (op.tensors[*tensor].role == Role::upstream || op.tensors[*tensor].role == Role::gradient))
    return user_error(text.place, "'{}' belongs to the backward pass, but this launch has pass = \"forward\"",
                      text.name);
  if (text.form == ArgumentText::Form::stride) {
    bound.text = fmt::format("{}.stride({})", text.name, text.stride_dim);
    if (!tensor)
      return user_error(text.place, "'{}' takes the stride of '{}', which is no tensor of operator {}: {}",
                        bound.text, text.name, op.name, listed(op.tensors));
    const auto rank = static_cast<int>(op.tensors[*tensor].shape.size());
    if (text.stride_dim < 0 || text.stride_dim >= rank)
      return user_error(text.place, "'{}' has {} dimension{}: stride(0) to stride({})", text.name, rank,
                        rank == 1 ? "" : "s", rank - 1);
    bound.of_dim = text.stride_dim;
    return number(Form::stride, *tensor, 8);
  }
  const auto no_width = [&]() -> Result<void> {
    if (text.width)
      return user_error(text.place, "only dims, lets and strides take a width, and '{}' is none", text.name);
    return {};
  };
  if (tensor || index_of(manifest.scratch, text.name)) {
    ASSAY_TRY_VOID(no_width());
    return tensor ? number(Form::tensor, *tensor, 8)
                  : number(Form::scratch, *index_of(manifest.scratch, text.name), 8);
  }
  if (const auto dim = index_of(op.dims, text.name)) return number(Form::dim, *dim, 4);
  if (const auto let = index_of(manifest.lets, text.name)) return number(Form::let, *let, 4);
  if (const auto param = index_of(op.params, text.name)) {
    ASSAY_TRY_VOID(no_width());
    return number(Form::param, *param, static_cast<std::uint8_t>(size_of(op.params[*param].dtype)));
  }
  return user_error(
      text.place, "unknown argument '{}'; known are the tensors {}; dims {}; params {}; lets {}; scratch {}",
      text.name, listed(op.tensors), listed(op.dims), listed(op.params), listed(manifest.lets),
      listed(manifest.scratch));
}

// A memref of rank r is 3 + 2r parameters: the allocated and the aligned pointer, the offset, the sizes, the
// strides.
Result<std::vector<BoundArgument>> bind_memref(const ArgumentText& text, const Manifest& manifest,
                                               const OpInfo& op, const LaunchText& launch) {
  using Form = BoundArgument::Form;
  ASSAY_TRY(BoundArgument pointer, bind_argument(text, manifest, op, launch));
  if (pointer.form != Form::tensor && pointer.form != Form::scratch)
    return user_error(text.place, "'memref:{}' must name a tensor or a scratch buffer", text.name);
  const bool tensor = pointer.form == Form::tensor;
  pointer.text = fmt::format("memref:{}", text.name);
  BoundArgument number = pointer;
  number.form = Form::zero;
  number.bytes = 8;
  std::vector<BoundArgument> all{pointer, pointer, number};
  const std::size_t rank =
      tensor ? op.tensors[pointer.index].shape.size() : manifest.scratch[pointer.index].shape.size();
  for (const Form form :
       {tensor ? Form::size : Form::scratch_size, tensor ? Form::stride : Form::scratch_stride})
    for (std::size_t dim = 0; dim < rank; ++dim) {
      number.form = form;
      number.of_dim = static_cast<int>(dim);
      all.push_back(number);
    }
  return all;
}

Result<void> bind_launches(const Manifest& manifest, const OpInfo& op, Binding& binding) {
  binding.named.assign(op.tensors.size(), false);
  for (const LaunchText& launch : manifest.launches) {
    if (launch.pass == Pass::backward && !op.has_backward)
      return user_error(launch.place, "operator {} has no backward pass", op.name);
    std::vector<BoundArgument> args;
    for (const ArgumentText& text : launch.args) {
      std::vector<BoundArgument> bound;
      if (text.form == ArgumentText::Form::memref) {
        ASSAY_TRY(bound, bind_memref(text, manifest, op, launch));
      } else {
        ASSAY_TRY(BoundArgument argument, bind_argument(text, manifest, op, launch));
        bound.push_back(std::move(argument));
      }
      for (BoundArgument& argument : bound) {
        if (argument.form == BoundArgument::Form::tensor) binding.named[argument.index] = true;
        args.push_back(std::move(argument));
      }
    }
    binding.args.push_back(std::move(args));
  }
  const auto forward = std::ranges::any_of(
      manifest.launches, [](const LaunchText& launch) { return launch.pass == Pass::forward; });
  if (!forward)
    return user_error(place_of(manifest, "launch"),
                      "there is no forward [[launch]], and every case begins with one");
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    if (pass == Pass::backward && !manifest.has_backward()) continue;
    const Role role = pass == Pass::forward ? Role::output : Role::gradient;
    bool any = false;
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      if (op.tensors[i].role != role) continue;
      any = any || binding.named[i];
      if (pass == Pass::forward && !binding.named[i] && !op.tensors[i].optional && !manifest.has_backward())
        return user_error(place_of(manifest, "launch"), "no launch takes '{}', the output of operator {}",
                          op.tensors[i].name, op.name);
    }
    if (!any)
      return user_error(place_of(manifest, "launch"), "no {} launch takes a{} of operator {}", name_of(pass),
                        pass == Pass::forward ? "n output" : " gradient", op.name);
  }
  return {};
}

Result<void> bind_layouts(const Manifest& manifest, const OpInfo& op, Binding& binding) {
  binding.layouts.resize(op.tensors.size());
  for (const LayoutText& layout : manifest.layout) {
    const auto tensor = index_of(op.tensors, layout.tensor);
    if (!tensor)
      return user_error(layout.place, "[layout] names '{}', which is no tensor of operator {}: {}",
                        layout.tensor, op.name, listed(op.tensors));
    const Role role = op.tensors[*tensor].role;
    if (role != Role::input && role != Role::upstream)
      return user_error(layout.place,
                        "[layout] is for inputs and upstream gradients; '{}' is written by the kernel",
                        layout.tensor);
    binding.layouts[*tensor] = layout;
  }
  return {};
}

Result<void> check_tolerance(const Manifest& manifest, const OpInfo& op) {
  if (manifest.tolerance.max_ulp && !op.elementwise)
    return user_error(
        place_of(manifest, "tolerance.max_ulp"),
        "max_ulp is for elementwise operators, and {} is none: its threshold comes from the reference",
        op.name);
  if (manifest.tolerance.rms_limit && op.exact)
    return user_error(place_of(manifest, "tolerance.rms_limit"),
                      "operator {} is exact: rms_limit has no meaning", op.name);
  return {};
}

} // namespace

Place place_of(const Manifest& manifest, const std::string& key) {
  if (const auto found = manifest.places.find(key); found != manifest.places.end()) return found->second;
  if (const auto table = manifest.places.find(key.substr(0, key.find('.'))); table != manifest.places.end())
    return table->second;
  return {manifest.path.string()};
}

double round_param(const ParamInfo& param, double value) {
  return param.dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

Result<std::string> expand_name(const std::string& text, const Place& place,
                                const std::function<std::optional<std::string>(const std::string&)>& value) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text.compare(at, 2, "${") != 0) {
      out += text[at++];
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string::npos)
      return user_error(place, "kernel name \"{}\" has a ${{ without its }}", text);
    const std::string name = text.substr(at + 2, end - at - 2);
    const auto replacement = value(name);
    if (!replacement)
      return user_error(place,
                        "kernel name \"{}\" uses ${{{}}}, which is neither T nor a dimension nor a [let]",
                        text, name);
    out += *replacement;
    at = end + 1;
  }
  return out;
}

Result<Binding> bind_names(const Manifest& manifest, const Op& op) {
  const OpInfo& info = op.info();
  Binding binding;
  ASSAY_TRY_VOID(bind_dims(manifest, info, binding));
  ASSAY_TRY_VOID(bind_params(manifest, info, binding));
  ASSAY_TRY_VOID(check_new_names(manifest, info));
  ASSAY_TRY_VOID(bind_launches(manifest, info, binding));
  ASSAY_TRY_VOID(bind_layouts(manifest, info, binding));
  ASSAY_TRY_VOID(check_tolerance(manifest, info));
  for (const TensorInfo& tensor : info.tensors) {
    std::vector<Expression> shape;
    for (const std::string& text : tensor.shape) {
      auto size = Expression::parse(text, {manifest.path.string()});
      if (!size)
        return internal_error("operator {}: shape of {}: {}", info.name, tensor.name, size.error().message);
      shape.push_back(*std::move(size));
    }
    binding.tensor_shapes.push_back(std::move(shape));
  }
  return binding;
}

} // namespace assay
