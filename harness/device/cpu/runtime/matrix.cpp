// What the tensor-core instructions ask of a warp and of a matrix in memory, beyond what every access does.
#include "harness/device/cpu/runtime/access.h"
#include "harness/device/cpu/runtime/layout.h"

#include <fmt/format.h>

#include <bit>

namespace assay::cpu {
namespace {

std::string misaligned_matrix(WarpContext& context, const Access& access, unsigned lane,
                              std::uint64_t address, std::uint64_t pitch, bool store) {
  const Target target = target_of(context, access.space, address);
  const auto offset = static_cast<std::int64_t>(address - target.origin);
  const unsigned alignment = access.element_bytes;
  const std::uint64_t off = address % alignment;
  const std::string why =
      off != 0
          ? fmt::format("its address is {} byte{} off a multiple of {}", off, off == 1 ? "" : "s", alignment)
          : fmt::format("its leading dimension of {} bytes is no multiple of {}", pitch, alignment);
  return fmt::format("misaligned {} of a matrix at {} ({}) by {}, {}", store ? "write" : "read",
                     element_name(*target.region, offset), why, thread_name(context, lane),
                     context.launch->faults.place_text(access.site));
}

} // namespace

void assay_require_warp(Warp* warp, std::uint32_t lanes, const Site* site) {
  if (lanes != ~0u) assay_diverged(warp, lanes, ~lanes, site);
}

void assay_matrix_alignment(Warp* warp, std::uint32_t lanes, const Access* access,
                            const std::uint64_t* addresses, const std::uint64_t* pitch, std::uint32_t store) {
  WarpContext& context = context_of(warp);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((lanes >> lane & 1) == 0 || (addresses[lane] | pitch[lane]) % access->element_bytes == 0) continue;
    fatal_fault(context, Kind::misaligned,
                fault_buffer(*target_of(context, access->space, addresses[lane]).region), access->site,
                misaligned_matrix(context, *access, lane, addresses[lane], pitch[lane], store != 0));
  }
}

} // namespace assay::cpu
