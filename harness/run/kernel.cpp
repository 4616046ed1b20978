#include "harness/run/kernel.h"

#include "harness/base/check.h"
#include "harness/compile/module_state.h"
#include "harness/run/kernel_parts.h"
#include "harness/run/sizes.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace assay {

namespace {

// Whether PTX text has an atomic operation of its own ("atom." or "red." at the start of an instruction).
bool uses_atomics(std::string_view ptx) {
  for (const std::string_view word : {"atom.", "red."})
    for (std::size_t at = ptx.find(word); at != std::string_view::npos; at = ptx.find(word, at + 1))
      if (at == 0 || ptx[at - 1] == '\t' || ptx[at - 1] == ' ' || ptx[at - 1] == '\n') return true;
  return false;
}

// Whether a program uses functions less exact than CUDA's math library. Its exact expf is itself built on
// ex2.approx.ftz and its division and square root on .rn, so those words alone tell nothing.
Approximations fast_functions(std::string_view ptx, const std::vector<std::string>& options) {
  constexpr Approximations tanh_alone = approximate_bit(Function::tanh);
  const Approximations tanh = ptx.find("tanh.approx") == std::string_view::npos ? 0 : tanh_alone;
  for (const std::string& option : options)
    if (option.ends_with("use_fast_math")) return (all_approximate & ~tanh_alone) | tanh;
  for (const std::string_view word :
       {"ex2.approx.f32", "div.full", "div.approx", "rcp.approx.f32", "rcp.approx.ftz.f32", "sqrt.approx",
        "tanh.approx", "sin.approx", "cos.approx", "lg2.approx.f32"})
    if (ptx.find(word) != std::string_view::npos) return (all_approximate & ~tanh_alone) | tanh;
  return 0;
}

} // namespace

Result<std::unique_ptr<Kernel>> Kernel::load(const std::filesystem::path& path, Device& device,
                                             const KernelOptions& options) {
  ASSAY_TRY(KernelParts parts, read_kernel_parts(path, options.named_by_user, options.cache_dir));
  return bind(std::move(parts.manifest), *parts.op, std::move(parts.source_text), device, options);
}

Result<std::unique_ptr<Kernel>> Kernel::bind(Manifest manifest, const Op& op, std::string source_text,
                                             Device& device, const KernelOptions& options) {
  std::unique_ptr<Kernel> kernel(new Kernel);
  ASSAY_TRY(kernel->binding_, bind_names(manifest, op));
  ASSAY_TRY(kernel->space_, case_space(manifest, op, kernel->binding_, options.element_budget));
  kernel->manifest_ = std::move(manifest);
  kernel->op_ = &op;
  kernel->device_ = &device;
  kernel->options_ = options;
  kernel->source_text_ = std::move(source_text);
  kernel->source_hash_ = ::assay::source_hash(kernel->manifest_, kernel->source_text_);
  kernel->space_.source_hash = kernel->source_hash_;
  const OpInfo& info = op.info();
  kernel->not_tested_ = ::assay::not_tested(info, kernel->binding_);

  // One compilation at the smallest dims shows every mismatch between the launches and the kernels'
  // parameters.
  std::vector<std::int64_t> smallest;
  for (const DimRange& range : kernel->binding_.dims) smallest.push_back(range.min);
  ASSAY_TRY(const Sizes sizes, evaluate_sizes(kernel->manifest_, info, smallest));
  ASSAY_TRY(const std::vector<std::string> names,
            expanded_names(kernel->manifest_, info, sizes, kernel->manifest_.dtypes.front()));
  ASSAY_TRY_VOID(kernel->program(kernel->manifest_.dtypes.front(), names));
  return kernel;
}

Result<const Kernel::Loaded*> Kernel::program(DType dtype, const std::vector<std::string>& names) {
  const std::string key = fmt::format("{}\n{}", name_of(dtype), fmt::join(names, "\n"));
  if (const auto found = programs_.find(key); found != programs_.end()) return &found->second;

  CompileRequest request;
  request.path = manifest_.source;
  request.text = source_text_;
  for (const std::string& name : names)
    if (std::ranges::find(request.names, name) == request.names.end()) request.names.push_back(name);
  request.include_dirs = manifest_.include_dirs;
  request.options = manifest_.options;
  auto compiled = compile(request, options_.cache_dir);
  if (!compiled) return std::unexpected(in_manifest(std::move(compiled).error(), names));
  const PtxSource ptx = *std::move(compiled);
  Loaded loaded;
  for (const std::string& name : names) {
    const auto entry = ptx.entries.find(name);
    ASSAY_CHECK(entry != ptx.entries.end(), "compile() has no entry for '{}'", name);
    loaded.entries.push_back(entry->second);
  }
  ASSAY_TRY(loaded.program, device_->load(ptx));
  ASSAY_TRY_VOID(check_arguments(loaded, names));
  loaded.keeps_state = keeps_state(ptx.text);
  has_atomics_ = has_atomics_ || uses_atomics(ptx.text);
  approximates_ |= fast_functions(ptx.text, manifest_.options);
  return &programs_.emplace(key, std::move(loaded)).first->second;
}

// What is wrong with a name or an option stands in the manifest, not at any line of the source.
Error Kernel::in_manifest(Error error, const std::vector<std::string>& names) const {
  if (error.kind != ErrorKind::user || error.place.line != 0) return error;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (error.message.contains(fmt::format("'{}'", names[i])))
      return {error.kind, fmt::format("{}: {}", manifest_.source.string(), error.message),
              manifest_.launches[i].place};
  if (error.message.contains("the options")) error.place = place_of(manifest_, "options");
  return error;
}

Result<void> Kernel::check_arguments(Loaded& loaded, const std::vector<std::string>& names) const {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const LaunchText& launch = manifest_.launches[i];
    const auto& entries = loaded.program->entries();
    const auto entry = std::ranges::find(entries, loaded.entries[i], &EntryInfo::name);
    if (entry == entries.end())
      return user_error(launch.place, "the PTX has no entry '{}' for kernel \"{}\"", loaded.entries[i],
                        names[i]);
    loaded.param_bytes.push_back(entry->param_bytes);
    const auto& args = binding_.args[i];
    if (args.size() != entry->param_bytes.size())
      return user_error(launch.place, "kernel \"{}\" has {} parameters, but args {} {}", names[i],
                        entry->param_bytes.size(),
                        args.size() == launch.args.size() ? "lists" : "(a memref being several) come to",
                        args.size());
    for (std::size_t k = 0; k < args.size(); ++k) {
      const std::uint32_t wanted = entry->param_bytes[k];
      const bool fits =
          args[k].bytes == wanted || (args[k].form == BoundArgument::Form::zero &&
                                      (wanted == 1 || wanted == 2 || wanted == 4 || wanted == 8));
      if (fits) continue;
      const bool widths =
          (args[k].form == BoundArgument::Form::dim || args[k].form == BoundArgument::Form::let ||
           args[k].form == BoundArgument::Form::stride) &&
          (wanted == 4 || wanted == 8);
      const std::string help =
          widths ? fmt::format(": write \"{}:{}\"", args[k].text, wanted == 4 ? "i32" : "i64") : "";
      return user_error(args[k].place,
                        "argument {} of kernel \"{}\", '{}', has {} bytes, but the parameter has {}{}", k + 1,
                        names[i], args[k].text, args[k].bytes, wanted, help);
    }
  }
  return {};
}

} // namespace assay
