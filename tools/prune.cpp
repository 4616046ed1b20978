#include "tools/prune.h"

#include "harness/base/files.h"
#include "harness/store/corpus.h"
#include "tools/campaign_folder.h"

#include <set>
#include <string>

namespace assay {

namespace fs = std::filesystem;

bool is_kept_by_a_search(const fs::path& file) {
  const std::string stem = file.stem().string(), extension = file.extension().string();
  return stem.find_first_not_of("0123456789abcdef") == std::string::npos &&
         ((stem.size() == 40 && extension.empty()) || (stem.size() == 32 && extension == ".case"));
}

Result<Pruned> keep_merged(const fs::path& corpus, const fs::path& merged) {
  ASSAY_TRY_VOID(mend_corpus(merged)); // libFuzzer takes what is no case, too
  ASSAY_TRY(const auto worth_keeping, Corpus(merged).files());
  ASSAY_TRY(const auto files, Corpus(corpus).files());
  std::set<std::string> texts;
  for (const fs::path& file : worth_keeping) {
    ASSAY_TRY(std::string text, read_file(file));
    texts.insert(std::move(text));
  }
  Pruned pruned;
  for (const fs::path& file : files) {
    const auto text = read_file(file);
    if (texts.empty() || !text || !is_kept_by_a_search(file) || texts.contains(*text)) {
      ++pruned.kept;
      continue;
    }
    std::error_code ec;
    if (!fs::remove(file, ec))
      return environment_error(Place{file.string()}, "cannot be removed: {}", ec.message());
    ++pruned.removed;
  }
  return pruned;
}

} // namespace assay
