// Triage as one HTML page that needs nothing else: no network, no script; everything that comes from
// elsewhere is escaped. Readable on a phone.
#pragma once

#include "harness/report/triage.h"

#include <string>

namespace assay {

std::string triage_page(const TriageReport& report);

} // namespace assay
