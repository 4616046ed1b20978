#include "harness/store/corpus.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <algorithm>
#include <system_error>

namespace assay {

namespace fs = std::filesystem;

Result<Corpus::Added> Corpus::add(const Case& test_case) const {
  const std::string text = to_text(test_case);
  Added added{folder_ / (content_hash(text) + ".case"), false};
  std::error_code ec;
  if (fs::exists(added.file, ec)) return added;
  ASSAY_TRY_VOID(write_file(added.file, text));
  added.is_new = true;
  return added;
}

Result<std::vector<fs::path>> Corpus::files() const {
  std::vector<fs::path> files;
  std::error_code ec;
  if (!fs::exists(folder_, ec)) return files;
  fs::recursive_directory_iterator it(folder_, ec);
  if (ec) return user_error({folder_.string()}, "cannot be read: {}", ec.message());
  for (const fs::recursive_directory_iterator end; it != end; it.increment(ec)) {
    if (ec) return user_error({folder_.string()}, "cannot be read: {}", ec.message());
    const bool hidden = it->path().filename().string().starts_with(".");
    if (hidden && it->is_directory(ec)) it.disable_recursion_pending();
    if (!hidden && it->is_regular_file(ec)) files.push_back(it->path());
  }
  if (ec) return user_error({folder_.string()}, "cannot be read: {}", ec.message());
  std::ranges::sort(files);
  return files;
}

} // namespace assay
