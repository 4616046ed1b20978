// What libFuzzer is told about a case beside the coverage of this folder's own code. libFuzzer keeps a case
// in its corpus when a counter that was zero in every earlier one is set; so every fact worth climbing
// towards is a counter:
//   blocks    one a basic block of the device code, as often as it ran
//   compares  how near the operands of each integer comparison in device code came: one counter a (site,
//   distance) ratios    log2(target_error / threshold) of each output and type, while its gate is valid: one
//   a level, all levels
//             below it too, so that the search climbs
//   shapes    where each dim lies relative to the declared tiles, for each type and pass
#pragma once

#include "harness/cases/case.h"
#include "harness/cases/manifest.h"
#include "harness/run/trial.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::feedback {

// Before a case.
void clear();

void add_blocks(std::span<const std::uint8_t> counters);
void add_ratios(std::span<const TensorReport> tensors);
void add_shape(const Case& test_case, std::span<const DimRange> dims);

// Device::set_compare_hook's function.
void on_compare(std::uint64_t site, std::uint64_t a, std::uint64_t b, unsigned bits);

// Sizes that device code compares with something that varies: one operand was the same in every case so far,
// the other was not. Ascending, each in [2, 2^24].
std::vector<std::int64_t> learnt_sizes();

} // namespace assay::feedback
