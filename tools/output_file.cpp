#include "tools/output_file.h"

#include "harness/base/files.h"

#include <cstdio>
#include <unistd.h>

namespace assay {

namespace fs = std::filesystem;

Result<void> check_writable(const fs::path& file) {
  if (file.empty()) return {};
  std::error_code ec;
  if (fs::is_directory(file, ec))
    return user_error(Place{file.string()}, "is a folder, where a file is to be written");
  fs::path folder = fs::absolute(file, ec).parent_path();
  while (!fs::exists(folder, ec) && folder != folder.parent_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, ec) || ::access(folder.c_str(), W_OK | X_OK) != 0)
    return user_error(Place{file.string()}, "cannot be written below {}", folder.string());
  return {};
}

Result<void> write_output(const fs::path& file, std::string_view bytes) {
  std::error_code ec;
  const fs::path folder = file.parent_path();
  const bool made = !folder.empty() && !fs::exists(folder, ec);
  ASSAY_TRY_VOID(write_file(file, bytes));
  if (made) std::fprintf(stderr, "assay: made the folder %s\n", folder.c_str());
  return {};
}

} // namespace assay
