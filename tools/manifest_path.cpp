#include "tools/manifest_path.h"

namespace assay {

namespace fs = std::filesystem;

Result<fs::path> resolve_manifest(const std::string& argument) {
  std::error_code ec;
  fs::path path = argument;
  if (!argument.empty() && fs::is_regular_file(path, ec)) return path;
  for (const fs::path& folder : {path, fs::path("kernels") / path})
    if (!argument.empty() && fs::is_regular_file(folder / "kernel.toml", ec)) return folder / "kernel.toml";
  if (fs::is_directory(path, ec)) return user_error(Place{argument}, "is a folder without a kernel.toml");
  if (fs::exists(path, ec)) return user_error(Place{argument}, "is no file");
  return user_error(Place{argument}, "there is no such manifest");
}

} // namespace assay
