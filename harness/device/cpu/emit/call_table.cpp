#include "harness/device/cpu/emit/call_table.h"

#include "harness/device/cpu/emit/layout.h"

#include <bit>

namespace assay::cpu {

void assay_call_pointer(Warp* warp, std::uint32_t lanes, const PointerCall* call,
                        const std::uint64_t* addresses, std::uint8_t* const* areas) {
  const CallTable& table = *call->table;
  for (std::uint32_t left = lanes; left != 0;) {
    const std::uint64_t address = addresses[std::countr_zero(left)];
    std::uint32_t group = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1)
      if (addresses[std::countr_zero(rest)] == address) group |= rest & -rest;
    left &= ~group;
    const std::size_t index = function_index(address, table.size());
    if (index == table.size() || !table[index].code)
      assay_bad_call(warp, group, &call->site, address, nullptr);
    const Callee& callee = table[index];
    if (callee.results != call->results || callee.params != call->params)
      assay_bad_call(warp, group, &call->site, address, callee.name.c_str());
    callee.code(warp, group, areas);
  }
}

} // namespace assay::cpu
