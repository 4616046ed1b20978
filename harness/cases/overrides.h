// Elements that a case gives one by one.
#pragma once

#include "harness/cases/case.h"

#include <vector>

namespace assay {

// A text gives each element once, and of what a search gives twice the last counts: the others go.
void keep_last_of_each_place(std::vector<ElementOverride>& overrides);

} // namespace assay
