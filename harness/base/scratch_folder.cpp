#include "harness/base/scratch_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace assay {

namespace fs = std::filesystem;

Result<ScratchFolder> ScratchFolder::create(std::string_view purpose) {
  std::error_code ec;
  std::string path = (fs::temp_directory_path(ec) / fmt::format("assay-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(path.data()) == nullptr)
    return environment_error(Place{path}, "cannot be created: {}", std::strerror(errno));
  return ScratchFolder(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

} // namespace assay
