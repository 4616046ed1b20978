// Text in device memory: printf formats and assertion messages.
#pragma once

#include "harness/device/cpu/runtime/warp_context.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::cpu {

// The zero-terminated text at a generic address, at most 1024 bytes; "(unreadable)" where there is none.
std::string read_text(WarpContext& context, std::uint64_t address);

// `bytes` bytes of what `lane` sees at a generic address; nothing where they are not all inside one region.
std::optional<std::uint64_t> read_bits(WarpContext& context, unsigned lane, std::uint64_t address,
                                       unsigned bytes);

} // namespace assay::cpu
