// Short pieces of messages: an element's name, a number.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace assay {

// "y[2,17]" for a dense row-major index.
std::string element_text(const std::string& tensor, std::span<const std::int64_t> shape, std::int64_t index);

// '?' for what a terminal would obey.
std::string printable(std::string text);

// Seven significant digits: "0.1234568", "inf", "nan", "-1.5e-07".
std::string value_text(double value);

} // namespace assay
