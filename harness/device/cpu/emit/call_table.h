// Calls through pointers: what stands behind the address of a function.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::cpu {

// Runs `lanes` of the warp through a function; areas as in areas.h.
using FunctionCode = void (*)(Warp* warp, std::uint32_t lanes, std::uint8_t* const* areas);

struct Callee {
  std::string name;
  FunctionCode code = nullptr;                // null: no address of it can be called
  std::vector<std::uint64_t> results, params; // bytes of each
};

// By index in the module, see function_address in layout.h.
using CallTable = std::vector<Callee>;

// An instruction that calls through a pointer.
struct PointerCall {
  Site site;
  const CallTable* table = nullptr;
  std::vector<std::uint64_t> results, params;
};

extern "C" {
// Lanes of one address call together, in the order of their lowest lane.
void assay_call_pointer(Warp* warp, std::uint32_t lanes, const PointerCall* call,
                        const std::uint64_t* addresses, std::uint8_t* const* areas);
}

} // namespace assay::cpu
