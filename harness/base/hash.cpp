#include "harness/base/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace assay {

std::string content_hash(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t content_hash64(std::string_view bytes) {
  return XXH3_128bits(bytes.data(), bytes.size()).high64;
}

} // namespace assay
