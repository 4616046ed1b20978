#include "harness/run/kernel_parts.h"

#include "harness/base/files.h"
#include "harness/compile/includes.h"
#include "harness/run/user_operator.h"

#include <fmt/ranges.h>

namespace assay {

namespace {

bool in_working_folder(const std::filesystem::path& path) {
  std::error_code error;
  const auto inside =
      std::filesystem::weakly_canonical(path, error).lexically_relative(std::filesystem::current_path(error));
  return !error && !inside.empty() && *inside.begin() != "..";
}

Result<const Op*> operator_of(const Manifest& manifest, bool named_by_user,
                              const std::filesystem::path& cache_dir) {
  if (const Op* op = find_op(manifest.op)) return op;
  const Place place = place_of(manifest, "op");
  if (is_user_operator(manifest.op)) {
    const auto header = (manifest.path.parent_path() / manifest.op).lexically_normal();
    if (!named_by_user && !in_working_folder(header))
      return user_error(
          place,
          "the operator {} lies outside the working folder, and a case's word is not enough "
          "to compile and run it: run Assay in the folder that holds it, or name the manifest itself",
          header.string());
    std::error_code ec;
    if (!std::filesystem::is_regular_file(header, ec))
      return user_error(place, "the operator's header {} is not there", header.string());
    return load_user_operator(header, cache_dir);
  }
  std::vector<std::string> names;
  for (const Op* op : all_ops()) names.push_back(op->info().name);
  return user_error(
      place, "there is no operator '{}'; there are {}, and \"my_op.h\" for a header beside the manifest",
      manifest.op, fmt::join(names, ", "));
}

} // namespace

Result<KernelParts> read_kernel_parts(const std::filesystem::path& path, bool named_by_user,
                                      const std::filesystem::path& cache_dir) {
  ASSAY_TRY(Manifest manifest, load_manifest(path));
  ASSAY_TRY(const Op* op, operator_of(manifest, named_by_user, cache_dir));
  auto source = read_file(manifest.source);
  if (!source) {
    return user_error(place_of(manifest, "source"), "source {}: {}", manifest.source.string(),
                      source.error().message);
  }
  for (const std::filesystem::path& folder : manifest.include_dirs) {
    std::error_code ec;
    if (!std::filesystem::is_directory(folder, ec))
      return user_error(place_of(manifest, "include"), "include: there is no folder {}", folder.string());
  }
  return KernelParts{std::move(manifest), op, *std::move(source)};
}

std::string source_hash(const Manifest& manifest, std::string_view source_text) {
  return hash_with_includes(source_text, scan_includes(manifest.source, source_text, manifest.include_dirs));
}

std::vector<std::string> not_tested(const OpInfo& info, const Binding& binding) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < info.tensors.size(); ++i) {
    const Role role = info.tensors[i].role;
    if ((role == Role::output || role == Role::gradient) && !binding.named[i])
      names.push_back(info.tensors[i].name);
  }
  return names;
}

} // namespace assay
