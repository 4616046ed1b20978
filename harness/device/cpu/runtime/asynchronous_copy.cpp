#include "harness/device/cpu/runtime/asynchronous_copy.h"

#include "harness/device/cpu/runtime/access.h"
#include "harness/device/cpu/runtime/warp_context.h"

namespace assay::cpu {
namespace {

// Also what the check of races sees of it.
void read_source(Warp* warp, std::uint32_t lanes, const CopyUnderWay& copy, std::uint32_t* values,
                 std::uint32_t* undefined) {
  const Access& source = copy.access->source;
  bool whole = true;
  for (unsigned word = 0; word < source.vector; ++word) whole &= copy.read[word] == copy.lanes;
  if (whole) return assay_load(warp, lanes, &source, copy.source.data(), values, undefined);
  Access one = source;
  one.vector = 1;
  for (unsigned word = 0; word < source.vector; ++word) {
    std::uint64_t addresses[warp_lanes];
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      addresses[lane] = copy.source[lane] + std::uint64_t{word} * source.element_bytes;
    assay_load(warp, lanes & copy.read[word], &one, addresses, values + std::size_t{word} * warp_lanes,
               undefined + word);
  }
}

// The target is no one's until the copy ends.
void clear_target(Warp* warp, const CopyUnderWay& copy) {
  alignas(64) std::uint32_t poisoned[std::size_t{max_copy_words} * warp_lanes];
  std::uint32_t undefined[max_copy_words] = {};
  constexpr std::uint32_t pattern = poison_pattern * 0x10001u;
  for (std::uint32_t& value : poisoned) value = pattern;
  if (context_of(warp).launch->checks.undefined)
    for (std::uint32_t& lanes : undefined) lanes = copy.lanes;
  assay_store(warp, copy.lanes, &copy.access->target, copy.target.data(), poisoned, undefined);
}

void finish(Warp* warp, std::uint32_t lanes, const CopyUnderWay& copy) {
  alignas(64) std::uint32_t values[std::size_t{max_copy_words} * warp_lanes];
  std::uint32_t undefined[max_copy_words];
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const Target source = target_of(context_of(warp), copy.access->source.space, copy.source[first]);
  if (source.region->races != nullptr) read_source(warp, lanes, copy, values, undefined); // until now
  assay_store(warp, lanes, &copy.access->target, copy.target.data(), copy.values.data(),
              copy.undefined.data());
}

} // namespace

bool CopyUnderWay::reaches(std::uint64_t offset) const {
  const std::uint64_t bytes = std::uint64_t{access->target.element_bytes} * access->target.vector;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    if (offset - target[static_cast<std::size_t>(std::countr_zero(rest))] < bytes) return true;
  return false;
}

void assay_copy(Warp* warp, std::uint32_t lanes, const CopyAccess* access, const std::uint64_t* source,
                const std::uint64_t* target, const std::uint32_t* bytes) {
  if (lanes == 0) return;
  Copies& copies = context_of(warp).copies;
  if (copies.under_way.size() >= max_copies_under_way) {
    const CopyUnderWay oldest = copies.under_way.front();
    copies.under_way.erase(copies.under_way.begin());
    finish(warp, oldest.lanes, oldest);
  }
  CopyUnderWay copy{.access = access, .lanes = lanes, .group = copies.committed};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    copy.source[lane] = source[lane];
    copy.target[lane] = target[lane];
  }
  for (unsigned word = 0; word < access->source.vector; ++word)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      if ((lanes >> lane & 1) != 0 && (bytes == nullptr || bytes[lane] > word * access->source.element_bytes))
        copy.read[word] |= 1u << lane;
  read_source(warp, lanes, copy, copy.values.data(), copy.undefined.data());
  clear_target(warp, copy);
  copies.under_way.push_back(copy);
}

void assay_copies_commit(Warp* warp, std::uint32_t lanes) {
  Copies& copies = context_of(warp).copies;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    ++copies.committed[static_cast<std::size_t>(std::countr_zero(rest))];
}

void assay_copies_wait(Warp* warp, std::uint32_t lanes, std::uint32_t groups) {
  Copies& copies = context_of(warp).copies;
  if (copies.under_way.empty()) return;
  for (CopyUnderWay& copy : copies.under_way) {
    std::uint32_t arriving = 0;
    for (std::uint32_t rest = copy.lanes & lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint64_t newer = std::uint64_t{copy.group[lane]} + groups; // groups in which it may stay
      if (groups == ~0u || newer < copies.committed[lane]) arriving |= 1u << lane;
    }
    if (arriving == 0) continue;
    finish(warp, arriving, copy);
    copy.lanes &= ~arriving;
  }
  std::erase_if(copies.under_way, [](const CopyUnderWay& copy) { return copy.lanes == 0; });
}

} // namespace assay::cpu
