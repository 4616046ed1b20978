#include "tools/output_file.h"

#include "harness/base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

namespace {

// Of what people write and kernels are made of.
constexpr std::string_view inputs[] = {".case", ".toml", ".cu",   ".cuh", ".h",  ".hpp",
                                       ".cpp",  ".ptx",  ".mlir", ".npz", ".py", ".md"};

// The folder that a path lies in: "." of "a" and of "a/".
fs::path parent_of(const fs::path& path) {
  const fs::path named = path.has_filename() ? path : path.parent_path();
  return named.has_parent_path() ? named.parent_path() : fs::path(".");
}

// Whether something can be made in a folder; `path` is what is to be made.
Result<void> check_parent(const fs::path& path, const fs::path& folder) {
  std::error_code ec;
  if (!fs::exists(folder, ec))
    return user_error(Place{path.string()}, "cannot be made: there is no folder {}", folder.string());
  if (!fs::is_directory(folder, ec))
    return user_error(Place{path.string()}, "cannot be made: {} is no folder", folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return user_error(Place{path.string()}, "cannot be made: {}: {}", folder.string(), std::strerror(errno));
  return {};
}

} // namespace

Result<void> check_output_file(const fs::path& file, std::string_view own) {
  if (file.empty()) return {};
  std::error_code ec;
  const fs::file_status status = fs::status(file, ec);
  if (fs::is_directory(status) || !file.has_filename())
    return user_error(Place{file.string()}, "is a folder, where a file is to be written");
  if (fs::exists(status) && !fs::is_regular_file(status)) { // a device or a pipe, which is written into
    if (::access(file.c_str(), W_OK) == 0) return {};
    return user_error(Place{file.string()}, "cannot be written: {}", std::strerror(errno));
  }
  const std::string extension = file.extension().string();
  if (fs::exists(status) && extension != own && std::ranges::find(inputs, extension) != std::end(inputs))
    return user_error(Place{file.string()}, "is there, and no result: give another file to write");
  const fs::path written = fs::is_symlink(file, ec) ? fs::weakly_canonical(file, ec) : file;
  return check_parent(file, parent_of(written));
}

Result<void> check_output_files(std::span<const std::string> files) {
  for (std::size_t k = 0; k < files.size(); ++k) {
    ASSAY_TRY_VOID(check_output_file(files[k]));
    for (std::size_t i = 0; i < k && !files[k].empty(); ++i) {
      std::error_code ec;
      const fs::path one = fs::weakly_canonical(files[i], ec), other = fs::weakly_canonical(files[k], ec);
      if (!files[i].empty() && one == other && (!fs::exists(one, ec) || fs::is_regular_file(one, ec)))
        return user_error(Place{files[k]}, "is to hold two different results; give each a file of its own");
    }
  }
  return {};
}

Result<void> check_output_folder(const fs::path& folder) {
  std::error_code ec;
  if (!fs::exists(folder, ec)) return check_parent(folder, parent_of(folder));
  if (!fs::is_directory(folder, ec))
    return user_error(Place{folder.string()}, "is no folder, where a folder to write into is expected");
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
    return user_error(Place{folder.string()}, "cannot be written into: {}", std::strerror(errno));
  return {};
}

Result<void> make_output_folder(const fs::path& folder) {
  ASSAY_TRY_VOID(check_output_folder(folder));
  std::error_code ec;
  if (fs::create_directory(folder, ec)) std::fprintf(stderr, "assay: made the folder %s\n", folder.c_str());
  if (ec) return user_error(Place{folder.string()}, "cannot be made: {}", ec.message());
  return {};
}

Result<void> write_output(const fs::path& file, std::string_view bytes) {
  return file.empty() ? Result<void>{} : write_file(file, bytes);
}

} // namespace assay
