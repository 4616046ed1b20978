// Rows on a GPU and on a Device, many to a module.
#pragma once

#include "harness/device/device.h"
#include "tests/conformance/gpu.h"
#include "tests/conformance/rows.h"

namespace assay::conformance {

inline constexpr std::size_t rows_in_a_module = 48;

// What the GPU gives for each row.
Result<std::vector<std::vector<Column>>> run_on_gpu(Gpu& gpu, std::span<const Row> rows);

// The same by a Device. A fault of a row is an error that names it.
Result<std::vector<std::vector<Column>>> run_on_device(Device& device, std::span<const Row> rows);

} // namespace assay::conformance
