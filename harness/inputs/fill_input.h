// How one case fills one tensor, in plain numbers and with few places: what the host draws for thousands of
// neighbouring cases (neighbours.h), and what the GPU fills from. NVRTC compiles this header too.
#pragma once

#include "harness/cases/distribution_kind.h"

#include <cstdint>

namespace assay {

inline constexpr int fill_patches = 2, fill_overrides = 4;

struct FillDistribution {
  DistributionKind kind = DistributionKind::zero;
  double p[3] = {0, 0, 0};
};
struct FillPatch {
  std::int64_t first = 0, step = 1, count = 1;
  FillDistribution distribution;
};
struct FillOverride {
  std::int64_t index = 0; // dense
  std::uint64_t bits = 0;
};
struct FillInput {
  std::uint64_t seed = 0;
  FillDistribution base;
  std::int32_t patches = 0, overrides = 0;
  FillPatch patch[fill_patches];
  FillOverride one[fill_overrides];
};

} // namespace assay
