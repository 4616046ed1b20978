// Random pieces of cases: distributions with sensible parameters, patches, overrides, layouts.
#pragma once

#include "harness/inputs/legal.h"

namespace assay {

// Any kind that fits, with parameters from the magnitudes at which arithmetic gets interesting. NaN and
// infinities only where `specials`.
Distribution draw_distribution(const Domain& domain, bool specials, Rng& rng);

// One parameter doubled, halved, negated, back at its default or drawn anew.
Distribution tweak(const Distribution& distribution, Rng& rng);

std::uint64_t draw_seed(Rng& rng);

LinePatch draw_patch(const Shape& shape, const Domain& domain, bool specials, Rng& rng); // has lines
ElementOverride draw_override(const Shape& shape, const Domain& domain, DType type, std::int64_t limit,
                              bool specials,
                              Rng& rng); // has elements
Layout draw_layout(const Shape& shape, const LayoutText& allowed, Rng& rng);

// The share of the budgets that a new or mutated case may take: mostly a small one, for a case at a limit of
// the space takes as long as hundreds of others.
std::int64_t draw_share(Rng& rng);

Dims draw_dims(const CaseSpace& space, Rng& rng);

// An input drawn anew. `plain`: what inputs beside the one under attack get, mostly N(0, 1).
TensorInput draw_input(const InputSpec& spec, const Case& test_case, bool plain, Rng& rng);

} // namespace assay
