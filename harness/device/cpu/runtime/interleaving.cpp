#include "harness/device/cpu/runtime/interleaving.h"

#include "harness/device/cpu/runtime/warp_context.h"

#include <bit>

namespace assay::cpu {

void may_give_way(WarpContext& context, std::uint32_t lanes, const Access& access,
                  const std::uint64_t* addresses) {
  Interleaving& interleaving = context.launch->interleaving;
  if (interleaving.blocks == 1 || lanes == 0) return;
  const bool global = access.space == Space::global || access.space == Space::generic;
  if (!global || addresses[std::countr_zero(lanes)] >> slot_shift < first_buffer_slot) return;
  if (interleaving.random.below(4) != 0) return;
  interleaving.gives_way = true;
  switch_away(context);
}

} // namespace assay::cpu
