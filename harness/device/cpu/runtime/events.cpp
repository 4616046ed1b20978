// Fences, warp-level synchronisation, and the ways in which a kernel ends itself.
#include "harness/device/cpu/runtime/device_text.h"
#include "harness/device/cpu/runtime/warp_context.h"

#include <fmt/format.h>

#include <bit>

namespace assay::cpu {
namespace {

std::string trap_text(const WarpContext& context, unsigned lane, const Site& site) {
  return fmt::format("trap: {} executed a trap, {}", thread_name(context, lane),
                     context.launch->faults.place_text(site));
}

std::string diverged_text(const WarpContext& context, std::uint32_t lanes, std::uint32_t missing,
                          const Site& site) {
  return fmt::format(
      "barrier: lanes {:#010x} of warp {} of {} wait for lanes {:#010x}, which do not come ({} waits, for "
      "example for {}), {}",
      lanes, context.warp.warp_index, block_name(context), missing,
      thread_name(context, static_cast<unsigned>(std::countr_zero(lanes | 1u << 31))),
      missing ? thread_name(context, static_cast<unsigned>(std::countr_zero(missing))) : "nobody",
      context.launch->faults.place_text(site));
}

std::string unnamed_text(const WarpContext& context, std::uint32_t lanes, const Site& site) {
  return fmt::format(
      "barrier: lanes {:#010x} of warp {} of {} take part although the lanes they name are without "
      "themselves ({}, for example), {}",
      lanes, context.warp.warp_index, block_name(context),
      thread_name(context, static_cast<unsigned>(std::countr_zero(lanes | 1u << 31))),
      context.launch->faults.place_text(site));
}

std::string bad_call_text(const WarpContext& context, unsigned lane, const Site& site, std::uint64_t address,
                          const char* function) {
  const std::string target = function       ? fmt::format("to '{}', which has other parameters", function)
                             : address == 0 ? std::string("that is null")
                                            : fmt::format("{:#x}, where no function is", address);
  return fmt::format("trap: {} calls through a pointer {}, {}", thread_name(context, lane), target,
                     context.launch->faults.place_text(site));
}

std::string assert_text(WarpContext& context, unsigned lane, const Site& site, std::uint64_t message,
                        std::uint64_t file, std::uint32_t line, std::uint64_t function) {
  return fmt::format("trap: assertion \"{}\" failed in {} ({}:{}) by {}, {}", read_text(context, message),
                     read_text(context, function), read_text(context, file), line, thread_name(context, lane),
                     context.launch->faults.place_text(site));
}

} // namespace

void assay_fence(Warp* warp, std::uint32_t, std::uint32_t scope) {
  WarpContext& context = context_of(warp);
  if (context.launch->checks.races) context.launch->segments.fence(context, scope > 0);
}

void assay_warp_synced(Warp* warp, std::uint32_t lanes) {
  if (lanes & (lanes - 1)) context_of(warp).segment = 0;
}

void assay_diverged(Warp* warp, std::uint32_t lanes, std::uint32_t missing, const Site* site) {
  WarpContext& context = context_of(warp);
  fatal_fault(context, Kind::barrier, "", *site, diverged_text(context, lanes, missing, *site));
}

void assay_unnamed(Warp* warp, std::uint32_t lanes, const Site* site) {
  WarpContext& context = context_of(warp);
  fatal_fault(context, Kind::barrier, "", *site, unnamed_text(context, lanes, *site));
}

void assay_trap(Warp* warp, std::uint32_t lanes, const Site* site) {
  WarpContext& context = context_of(warp);
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes | 1u << 31));
  fatal_fault(context, Kind::trap, "", *site, trap_text(context, lane, *site));
}

void assay_bad_call(Warp* warp, std::uint32_t lanes, const Site* site, std::uint64_t address,
                    const char* function) {
  WarpContext& context = context_of(warp);
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes | 1u << 31));
  fatal_fault(context, Kind::trap, "", *site, bad_call_text(context, lane, *site, address, function));
}

void assay_assert_fail(Warp* warp, std::uint32_t lanes, const Site* site, const std::uint64_t* message,
                       const std::uint64_t* file, const std::uint32_t* line, const std::uint64_t* function) {
  WarpContext& context = context_of(warp);
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes | 1u << 31));
  fatal_fault(context, Kind::trap, "", *site,
              assert_text(context, lane, *site, message[lane], file[lane], line[lane], function[lane]));
}

} // namespace assay::cpu
