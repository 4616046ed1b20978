#include "fuzz/seed_zip.h"

#include "fuzz/status.h"
#include "harness/base/files.h"
#include "harness/base/hash.h"

#include <zip.h>

#include <memory>
#include <string>

namespace assay {

namespace fs = std::filesystem;

namespace {

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

} // namespace

Result<std::size_t> unpack_seeds(const fs::path& path, const fs::path& folder) {
  int status = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> zip(zip_open(path.c_str(), ZIP_RDONLY, &status),
                                                     zip_discard);
  if (!zip) return user_error(Place{path.string()}, "is no zip that can be read");
  const zip_int64_t entries = zip_get_num_entries(zip.get(), 0);
  std::size_t written = 0;
  for (zip_int64_t k = 0; k < entries && written < most_seeds; ++k) {
    const auto index = static_cast<zip_uint64_t>(k);
    zip_stat_t about;
    if (zip_stat_index(zip.get(), index, 0, &about) != 0 || (about.valid & ZIP_STAT_NAME) == 0 ||
        (about.valid & ZIP_STAT_SIZE) == 0 || about.size > max_case_text)
      continue;
    if (about.size == 0) continue; // a folder
    const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(zip.get(), index, 0));
    std::string text(about.size, '\0');
    if (!file || zip_fread(file.get(), text.data(), text.size()) != static_cast<zip_int64_t>(text.size()))
      return user_error(Place{path.string()}, "its file {} cannot be read", about.name);
    ASSAY_TRY_VOID(write_file(folder / (content_hash(text) + ".case"), text));
    ++written;
  }
  return written;
}

} // namespace assay
