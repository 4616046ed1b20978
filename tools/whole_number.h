// Whole numbers on the command line.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>

namespace assay {

// Accepts the decimal digits of a number from `least` to `most`, and says so of anything else.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = ~std::uint64_t{0});

} // namespace assay
