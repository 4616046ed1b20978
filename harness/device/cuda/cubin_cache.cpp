#include "harness/device/cuda/cubin_cache.h"

#include "harness/base/hash.h"

#include <fmt/format.h>

namespace assay::cuda {

std::string cubin_key(std::string_view ptx, int compute_major, int compute_minor, int driver) {
  return content_hash(fmt::format("sm_{}{} {}\n{}", compute_major, compute_minor, driver, ptx));
}

} // namespace assay::cuda
