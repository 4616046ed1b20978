// Whole numbers on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>

namespace assay {

// Accepts the decimal digits of a number from `least` to 2^64 - 1, and says so of anything else.
CLI::Validator whole_number(std::uint64_t least);

} // namespace assay
