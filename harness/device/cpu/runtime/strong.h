// Volatile, relaxed, acquire and release accesses: what they order (segments.h), and whether a warp only
// spins on them.
#pragma once

#include "harness/device/cpu/runtime/access.h"

namespace assay::cpu {

// A look that found nothing new: the third in a row at one instruction, or the 64th at several, makes the
// warp yield at its next basic block.
void count_spin(WarpContext& context, const Access& access);

void strong_load(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                 unsigned size);
void strong_store(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                  unsigned size);
// An atomic that changed nothing in memory may be a spin, too.
void strong_atomic(WarpContext& context, std::uint32_t lanes, const Access& access, const Checked& at,
                   unsigned size, bool changed);

} // namespace assay::cpu
