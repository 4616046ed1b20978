#include "tests/conformance/run_rows.h"

namespace assay::conformance {
namespace {

Result<BufferId> bytes_on(Device& device, const char* name, BufferRole role, std::size_t size,
                          std::span<const std::byte> content) {
  BufferSpec spec;
  spec.name = name;
  spec.role = role;
  spec.dtype = DType::u8;
  spec.shape = {static_cast<std::int64_t>(size)};
  spec.initialized = role == BufferRole::input;
  return device.allocate(spec, content);
}

} // namespace

Result<std::vector<std::vector<Column>>> run_on_device(Device& device, std::span<const Row> rows) {
  std::vector<std::vector<Column>> results;
  for (std::size_t first = 0; first < rows.size(); first += rows_in_a_module) {
    const auto part = rows.subspan(first, std::min(rows_in_a_module, rows.size() - first));
    ASSAY_TRY(const auto program, device.load({module_of(part), "conformance rows", {}}));
    for (std::size_t k = 0; k < part.size(); ++k) {
      const Row& row = part[k];
      device.release_all();
      std::vector<std::byte> in = input_bytes(row), out(output_size(row));
      ASSAY_TRY(const BufferId inputs, bytes_on(device, "inputs", BufferRole::input, in.size(), in));
      ASSAY_TRY(const BufferId outputs, bytes_on(device, "outputs", BufferRole::scratch, out.size(), {}));
      ASSAY_TRY(const BufferId cells,
                bytes_on(device, "cells", BufferRole::scratch, 16 * row.inputs->threads(), {}));
      LaunchSpec launch;
      launch.entry = fmt::format("row_{}", k);
      launch.block.x = row.inputs->threads();
      launch.args = {inputs, outputs, cells};
      launch.schedule_seed = k;
      ASSAY_TRY(const LaunchReport report, device.launch(*program, launch));
      for (const Fault& fault : report.faults)
        if (!fault.note) return internal_error("{}: {}", row.ptx, fault.message);
      ASSAY_TRY_VOID(device.read(outputs, out));
      results.push_back(output_columns(row, out));
    }
  }
  return results;
}

} // namespace assay::conformance
