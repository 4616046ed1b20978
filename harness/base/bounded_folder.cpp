#include "harness/base/bounded_folder.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace assay {

namespace fs = std::filesystem;

std::size_t keep_folder_below(const fs::path& folder, std::uint64_t bytes) {
  struct File {
    fs::path path;
    fs::file_time_type written;
    std::uint64_t size = 0;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code ec;
  for (fs::recursive_directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || it->is_symlink(ignored)) continue;
    File file{it->path(), it->last_write_time(ignored), it->file_size(ignored)};
    if (ignored) continue; // it has gone meanwhile
    total += file.size;
    files.push_back(std::move(file));
  }
  if (total <= bytes) return 0;
  std::ranges::sort(files, {}, &File::written);
  std::size_t removed = 0;
  for (const File& file : files) {
    if (total <= bytes / 4 * 3) break;
    if (!fs::remove(file.path, ec)) continue;
    total -= file.size;
    ++removed;
  }
  return removed;
}

} // namespace assay
