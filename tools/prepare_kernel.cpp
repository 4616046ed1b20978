#include "tools/prepare_kernel.h"

#include "harness/base/files.h"
#include "harness/base/hash.h"
#include "harness/compile/compile.h"
#include "harness/run/kernel_parts.h"
#include "tools/manifest_path.h"

namespace assay {

Result<CampaignKernel> prepare_kernel(const std::string& argument) {
  CampaignKernel kernel;
  ASSAY_TRY(kernel.manifest, resolve_manifest(argument));
  ASSAY_TRY(const KernelParts parts, read_kernel_parts(kernel.manifest, true, default_cache_dir()));
  ASSAY_TRY(const Binding binding, bind_names(parts.manifest, *parts.op));
  ASSAY_TRY(const std::string manifest_text, read_file(kernel.manifest));
  kernel.name = parts.manifest.name;
  kernel.not_tested = not_tested(parts.op->info(), binding);
  kernel.version = content_hash(source_hash(parts.manifest, parts.source_text) + manifest_text);
  return kernel;
}

} // namespace assay
