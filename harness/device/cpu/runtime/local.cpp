// Frames in local memory. Every lane has a linear piece of its own; the pieces of a warp stand `local_stride`
// apart.
#include "harness/device/cpu/runtime/warp_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::cpu {
namespace {

constexpr std::size_t stack_reserve = largest_frame_bytes + (std::size_t{64} << 10); // a callee, the runtime

void grow(WarpContext& context, std::uint32_t needed) {
  const std::uint32_t old_stride = context.local_stride;
  std::uint32_t stride = std::max<std::uint32_t>(old_stride, 512);
  while (stride < needed) stride *= 2;
  if (stride % 4096 == 0) stride += 64; // so that the lanes do not share cache sets
  std::vector<std::byte> storage(std::size_t{stride} * warp_lanes);
  ByteBits bits;
  bits.assign(storage.size(), true);
  for (unsigned lane = 0; lane < warp_lanes && context.local_top; ++lane) {
    const std::size_t from = std::size_t{lane} * old_stride, to = std::size_t{lane} * stride;
    std::memcpy(storage.data() + to, context.local_storage.data() + from, context.local_top);
    for (std::uint32_t i = 0; i < context.local_top; ++i)
      if (!any_in_element(context.local.undefined_bits.words(), from + i, 1))
        clear_element(bits.words(), to + i, 1);
  }
  context.local_storage = std::move(storage);
  context.local.undefined_bits = std::move(bits);
  context.local.undefined = context.local.undefined_bits.words();
  context.local.data = context.local_storage.data();
  context.local_stride = stride;
}

std::string overflow_text(const WarpContext& context) {
  return fmt::format(
      "trap: the stack overflows in {}: calls are nested too deeply ({} bytes of local memory in "
      "use a thread, at most {})",
      block_name(context), context.local_top, max_local_bytes);
}

} // namespace

std::uint32_t assay_enter_local(Warp* warp, std::uint32_t bytes, std::uint32_t alignment) {
  WarpContext& context = context_of(warp);
  const std::uint64_t mask = std::max<std::uint32_t>(alignment, 1) - 1;
  const std::uint64_t offset = (context.local_top + mask) & ~mask;
  const std::uint64_t top = (offset + bytes + 15) & ~std::uint64_t{15};
  if (top > max_local_bytes || FiberPool::stack_left(context.fiber) < stack_reserve)
    fatal_fault(context, Kind::trap, "local", {}, overflow_text(context));
  if (top > context.local_stride) grow(context, static_cast<std::uint32_t>(top));
  if (context.local.undefined)
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::size_t at = std::size_t{lane} * context.local_stride + offset;
      poison(context.local.data + at, 0, bytes);
      set_range(context.local.undefined, at, bytes);
    }
  context.local_top = static_cast<std::uint32_t>(top);
  context.local.end = static_cast<std::int64_t>(offset + bytes);
  return static_cast<std::uint32_t>(offset);
}

void assay_leave_local(Warp* warp, std::uint32_t offset) {
  WarpContext& context = context_of(warp);
  context.local_top = offset;
  context.local.end = offset;
}

} // namespace assay::cpu
