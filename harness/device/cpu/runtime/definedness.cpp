#include "harness/device/cpu/runtime/definedness.h"

#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>

#include <bit>

namespace assay::cpu {

void start_tracking(Region& region) {
  region.undefined_bits.assign(region.tracked_bytes(), false);
  region.undefined = region.undefined_bits.words();
}

namespace {

// Where a copy that is still under way is read, the message says so.
std::string copy_text(const Launch& launch) {
  if (launch.early_read.ptx_line == 0) return "";
  return fmt::format("; {} read what a cp.async had yet to bring",
                     launch.faults.place_text(launch.early_read));
}

bool copy_under_way(const Block& block, std::int64_t offset) {
  for (std::uint32_t w = 0; w < block.warp_count; ++w)
    for (const CopyUnderWay& copy : block.warps[w]->copies.under_way)
      if (copy.reaches(static_cast<std::uint64_t>(offset))) return true;
  return false;
}

} // namespace

void remember_origin(WarpContext& context, const Access& access, const Region& region, std::int64_t offset) {
  context.origin = {&region, offset, access.site};
  Site& early = context.launch->early_read;
  if (early.ptx_line == 0 && region.kind == RegionKind::shared && copy_under_way(*context.block, offset))
    early = access.site;
}

void store_undefined(Region& region, const Access& access, std::int64_t offset, unsigned bytes) {
  set_element(region.undefined, static_cast<std::size_t>(offset), bytes);
  if (region.kind != RegionKind::buffer || region.role != BufferRole::output) return;
  if (region.tainted.empty()) region.tainted.assign(static_cast<std::size_t>(region.end), false);
  set_element(region.tainted.words(), static_cast<std::size_t>(offset), bytes);
  region.stored_undefined = true;
  region.stored_undefined_site = access.site;
}

void store_partly_undefined(const WarpContext& context, Region& region, const Access& access,
                            std::int64_t offset, unsigned lane, std::uint64_t bits, unsigned bytes) {
  const unsigned all = (1u << bytes) - 1;
  const unsigned mask = bytes <= 8 ? context.partials.undefined_bytes(lane, bits, bytes) : all;
  if (mask == all) return store_undefined(region, access, offset, bytes);
  for (unsigned byte = 0; byte < bytes; ++byte) {
    if ((mask >> byte & 1) != 0)
      store_undefined(region, access, offset + byte, 1);
    else
      clear_element(region.undefined, static_cast<std::size_t>(offset) + byte, 1);
  }
}

void report_undefined_outputs(Launch& launch) {
  for (std::uint32_t id = 0; id < launch.memory.buffer_count(); ++id) {
    Region& region = launch.memory.buffer(BufferId{id});
    if (!region.stored_undefined) continue;
    region.stored_undefined = false;
    const std::size_t size = size_of(region.dtype);
    std::int64_t count = 0, first = 0;
    for_runs(region, [&](std::int64_t, std::size_t offset, std::int64_t length) {
      for (std::int64_t i = 0; i < length; ++i) {
        const std::size_t at = offset + static_cast<std::size_t>(i) * size;
        if (!any_in_range(region.undefined, at, size) || !any_in_range(region.tainted.words(), at, size))
          continue;
        if (count++ == 0) first = static_cast<std::int64_t>(at);
      }
    });
    if (count == 0) continue;
    const Site& site = region.stored_undefined_site;
    launch.faults.record(
        Kind::uninitialized, region.name, launch.faults.place_of(site),
        fmt::format("uninitialized: {} of {} holds a value that derives from memory that nobody wrote "
                    "({} such element{}), last stored at {}{}",
                    element_name(region, first), describe(region, first), count, count == 1 ? "" : "s",
                    launch.faults.place_text(site), copy_text(launch)));
  }
}

void assay_undefined_used(Warp* warp, std::uint32_t lanes, const Site* site) {
  WarpContext& context = context_of(warp);
  if (!context.launch->checks.undefined) return;
  FaultLog& faults = context.launch->faults;
  const UndefinedOrigin& origin = context.origin;
  std::string buffer = origin.region ? fault_buffer(*origin.region) : "";
  if (!faults.is_new(Kind::uninitialized, buffer, *site)) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  std::string from = "a value that nobody wrote";
  if (origin.region)
    from = fmt::format("a value from {}, which nobody wrote (read at {})",
                       element_name(*origin.region, origin.offset), faults.place_text(origin.site));
  faults.record(Kind::uninitialized, std::move(buffer), faults.place_of(*site),
                fmt::format("uninitialized: {} decides an address, a branch or an exchange by {}, {}{}", from,
                            thread_name(context, lane), faults.place_text(*site),
                            copy_text(*context.launch)));
}

} // namespace assay::cpu
