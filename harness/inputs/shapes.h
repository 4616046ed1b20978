// Sizes that a dimension takes: where kernels go wrong is at the edges of tiles, at one element, at powers of
// two and at the limits of 16-bit indices, so these are drawn far more often than their share of the range.
#pragma once

#include "harness/cases/manifest.h"
#include "harness/inputs/rng.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay {

// The legal size nearest to `size`: within [min, max] and a multiple of multiple_of (rounded down where that
// is legal).
std::int64_t legal_size(const DimRange& range, std::int64_t size);

bool is_legal_size(const DimRange& range, std::int64_t size);

// A random legal size: small ones, tiles (near) -2..+2 and their multiples, powers of two and primes with
// their neighbours, production sizes, 32767 to 65537, sizes seen in the kernel's comparisons, and anything,
// log-uniform.
std::int64_t draw_size(const DimRange& range, std::span<const std::int64_t> learnt, Rng& rng);

// The corner sizes, ascending, each once: smallest, 1, 2, 3, each tile and its double -1/0/+1.
std::vector<std::int64_t> corner_sizes(const DimRange& range);

// The sizes at which something outside the tiles gives way: 32767 to 65537 as far as legal, and the largest.
std::vector<std::int64_t> limit_sizes(const DimRange& range);

} // namespace assay
