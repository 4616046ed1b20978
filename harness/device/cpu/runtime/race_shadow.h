// Who touched a byte last, for the race check: see race.h.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::cpu {

struct RaceShadow {};

} // namespace assay::cpu
