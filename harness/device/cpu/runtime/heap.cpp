// Device malloc and free. Every block has a slot of its own, so that a use after free finds nothing there.
#include "harness/device/cpu/runtime/layout.h"
#include "harness/device/cpu/runtime/warp_context.h"

#include <fmt/format.h>

#include <bit>

namespace assay::cpu {
namespace {

std::string free_text(const WarpContext& context, unsigned lane, const Site& site, const Region& region,
                      std::uint64_t pointer) {
  const char* what = region.kind == RegionKind::freed  ? "memory that was freed already"
                     : region.kind == RegionKind::heap ? "a pointer into the middle of its memory"
                                                       : "a pointer that malloc did not give";
  return fmt::format("out_of_bounds free of {} ({:#x}) by {}, {}", what, pointer, thread_name(context, lane),
                     context.launch->faults.place_text(site));
}

} // namespace

void assay_malloc(Warp* warp, std::uint32_t lanes, const std::uint64_t* bytes, std::uint64_t* result) {
  WarpContext& context = context_of(warp);
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    result[lane] = context.launch->memory.heap_allocate(bytes[lane]);
  }
}

void assay_free(Warp* warp, std::uint32_t lanes, const Site* site, const std::uint64_t* pointers) {
  WarpContext& context = context_of(warp);
  Memory& memory = context.launch->memory;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t pointer = pointers[lane];
    if (pointer == 0) continue;
    const std::uint64_t slot = pointer >> slot_shift;
    const Region& region = memory.at(slot);
    if (region.kind != RegionKind::heap || pointer != generic_address(slot, 0))
      fatal_fault(context, Kind::out_of_bounds, region.kind == RegionKind::none ? "" : "malloc", *site,
                  free_text(context, lane, *site, region, pointer));
    memory.heap_free(slot);
  }
}

} // namespace assay::cpu
