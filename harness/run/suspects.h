// What is likely wrong with a kernel, from one failing case (method: section 10): each of the seven suspects
// is tested on that case and on richer ones that fail alike, and named only with evidence.
#pragma once

#include "harness/base/error.h"
#include "harness/numerics/causes.h"
#include "harness/run/failing.h"
#include "harness/run/finding.h"
#include "harness/run/kernel.h"

#include <string>
#include <vector>

namespace assay {

struct Diagnosis {
  std::vector<CauseEvidence> suspects; // the likeliest first; empty: none fits
  std::vector<CauseEvidence> cleared;  // tested without evidence enough
  std::string note;                    // where none fits: why, one line; else empty
  std::vector<FailingTrial> trials;    // what was looked at, the finding's own case first; empty: no numbers
};

// The finding must come from `kernel`. Errors: those of running a case.
Result<Diagnosis> diagnose(Kernel& kernel, const Finding& finding);

} // namespace assay
