#include "harness/run/sizes.h"

#include "harness/run/binding.h"

namespace assay {

Scope scope_of(const Manifest& manifest, const OpInfo& op, const Sizes& sizes) {
  return [&](std::string_view name) -> std::optional<std::int64_t> {
    for (std::size_t i = 0; i < sizes.dims.size(); ++i)
      if (op.dims[i].name == name) return sizes.dims[i];
    for (std::size_t i = 0; i < sizes.lets.size(); ++i)
      if (manifest.lets[i].name == name) return sizes.lets[i];
    return std::nullopt;
  };
}

Result<Sizes> evaluate_sizes(const Manifest& manifest, const OpInfo& op, std::vector<std::int64_t> dims) {
  Sizes sizes{std::move(dims), {}};
  const Scope scope = scope_of(manifest, op, sizes);
  for (const Let& let : manifest.lets) {
    ASSAY_TRY(const std::int64_t value, let.value.evaluate(scope));
    sizes.lets.push_back(value);
  }
  return sizes;
}

Result<std::vector<std::string>> expanded_names(const Manifest& manifest, const OpInfo& op,
                                                const Sizes& sizes, DType dtype) {
  const Scope scope = scope_of(manifest, op, sizes);
  std::vector<std::string> names;
  for (const LaunchText& launch : manifest.launches) {
    ASSAY_TRY(std::string name, expand_name(launch.kernel, launch.place,
                                            [&](const std::string& key) -> std::optional<std::string> {
                                              if (key == "T") return std::string(cuda_name_of(dtype));
                                              const auto value = scope(key);
                                              return value ? std::optional(std::to_string(*value))
                                                           : std::nullopt;
                                            }));
    names.push_back(std::move(name));
  }
  return names;
}

} // namespace assay
