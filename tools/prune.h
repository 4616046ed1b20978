// What a search has kept, made small again by libFuzzer's merge: a unit that sets no feature (coverage, how
// close to the threshold, how the shape lies to the tiles) that smaller ones do not set goes.
#pragma once

#include "harness/base/error.h"

#include <cstddef>
#include <filesystem>

namespace assay {

// Named by a hash, as libFuzzer (40 hex digits) or we (32, ".case") name what a search has kept. What a
// person named stays.
bool is_kept_by_a_search(const std::filesystem::path& file);

struct Pruned {
  std::size_t removed = 0, kept = 0;
};

// Removes from `corpus` what a search kept and `merged`, made from it by merge_corpora(), no longer holds. A
// `merged` without any case removes nothing.
Result<Pruned> keep_merged(const std::filesystem::path& corpus, const std::filesystem::path& merged);

} // namespace assay
