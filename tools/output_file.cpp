#include "tools/output_file.h"

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

} // namespace assay
