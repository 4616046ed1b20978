#include "harness/cases/overrides.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace assay {

void keep_last_of_each_place(std::vector<ElementOverride>& overrides) {
  if (overrides.size() < 2) return;
  std::set<std::vector<std::int64_t>> places;
  std::ranges::reverse(overrides);
  std::erase_if(overrides,
                [&](const ElementOverride& element) { return !places.insert(element.index).second; });
  std::ranges::reverse(overrides);
}

} // namespace assay
