#include "fuzz/check_kernel.h"

#include "harness/inputs/space.h"
#include "harness/run/kernel.h"

namespace assay {

Result<void> check_kernel(const std::filesystem::path& manifest, Device& device) {
  ASSAY_TRY(const auto kernel, Kernel::load(manifest, device, {.named_by_user = true}));
  const CaseSpace& space = kernel->space();
  for (const DType dtype : space.dtypes) {
    Case simplest;
    simplest.dtype = dtype;
    auto legal = repair(std::move(simplest), space);
    if (!legal) {
      Error error = std::move(legal).error();
      if (error.place.file.empty()) error.place = space.dims.front().place;
      error.message = "no case can be drawn: " + error.message;
      return std::unexpected(std::move(error));
    }
    ASSAY_TRY_VOID(kernel->plan(*legal));
  }
  return {};
}

} // namespace assay
