// One element's bits as text that a person reads and edits, and back.
#pragma once

#include "harness/numerics/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Integers in decimal; floats with the fewest digits that round to the same bits in `type`; inf, -inf, nan
// for the type's usual NaN and nan(0x7fc00001) for any other.
std::string value_text(DType type, std::uint64_t bits);

// The bits of what value_text prints, of any decimal number (rounded to nearest even; one that would round to
// an infinity is refused, an integer must fit), and of bits(0x...). nullopt where the text is none of these.
std::optional<std::uint64_t> parse_value(DType type, std::string_view text);

} // namespace assay
