#include "harness/base/large_pages.h"

#include <cstdint>
#include <sys/mman.h>

namespace assay {

void want_large_pages(void* at, std::size_t bytes) {
  constexpr std::uintptr_t page = 2 << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(at), end = begin + bytes;
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first < last) ::madvise(static_cast<std::byte*>(at) + (first - begin), last - first, MADV_HUGEPAGE);
}

} // namespace assay
