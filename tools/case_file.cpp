#include "tools/case_file.h"

#include "harness/base/files.h"
#include "harness/store/corpus.h"

namespace assay {

namespace fs = std::filesystem;

Result<Case> load_case(const fs::path& path) {
  ASSAY_TRY(const std::string text, read_file(path, std::size_t{1} << 20));
  return parse_case(text, path.string());
}

Result<std::vector<fs::path>> case_files(std::span<const std::string> paths) {
  std::vector<fs::path> files;
  for (const std::string& argument : paths) {
    std::error_code ec;
    if (!fs::is_directory(argument, ec)) {
      files.emplace_back(argument); // where it cannot be read, reading says so
      continue;
    }
    const std::size_t before = files.size();
    ASSAY_TRY(const auto below, Corpus(argument).files());
    for (const fs::path& file : below) {
      const bool has_smaller = file.filename() == "original.case" &&
                               fs::is_regular_file(file.parent_path() / "minimized.case", ec);
      if (file.extension() == ".case" && !has_smaller) files.push_back(file);
    }
    if (files.size() == before) return user_error(Place{argument}, "holds no *.case file");
  }
  return files;
}

} // namespace assay
