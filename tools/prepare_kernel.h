// What a campaign must know of a kernel before its first worker starts.
#pragma once

#include "tools/campaign.h"

#include <string>

namespace assay {

// Reads and binds the manifest, a path or what resolve_manifest() takes: every mistake in it, a source that
// is not there and a name that the operator does not know are user errors. The source is not compiled.
Result<CampaignKernel> prepare_kernel(const std::string& argument);

} // namespace assay
