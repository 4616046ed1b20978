#include "harness/device/cpu/runtime/read_only.h"

#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>

namespace assay::cpu {

namespace {

std::string read_only_text(const WarpContext& context, const Access& access, const Region& region,
                           unsigned lane, std::int64_t offset) {
  return fmt::format("out_of_bounds write of {} bytes to read-only memory, {}, by {}, {}",
                     unsigned{access.element_bytes} * access.vector, element_name(region, offset),
                     thread_name(context, lane), context.launch->faults.place_text(access.site));
}

} // namespace

void report_forbidden_store(WarpContext& context, const Access& access, const Region& region, unsigned lane,
                            std::int64_t offset) {
  FaultLog& faults = context.launch->faults;
  const unsigned size = unsigned{access.element_bytes} * access.vector;
  if (region.kind != RegionKind::buffer)
    fatal_fault(context, Kind::out_of_bounds, fault_buffer(region), access.site,
                read_only_text(context, access, region, lane, offset));
  if (!faults.is_new(Kind::input_modified, region.name, access.site)) return;
  faults.record(Kind::input_modified, region.name, faults.place_of(access.site),
                fmt::format("input_modified: write of {} bytes to {} of the input {} by {}, {}", size,
                            element_name(region, offset), describe(region, offset),
                            thread_name(context, lane), faults.place_text(access.site)));
}

} // namespace assay::cpu
