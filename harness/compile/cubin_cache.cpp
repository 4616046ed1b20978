#include "harness/compile/cubin_cache.h"

#include "harness/base/hash.h"

#include <fmt/format.h>

namespace assay {

std::string cubin_key(std::string_view ptx, std::string_view machine, int driver) {
  return content_hash(fmt::format("{} {}\n{}", machine, driver, ptx));
}

} // namespace assay
