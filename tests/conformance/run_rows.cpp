#include "tests/conformance/run_rows.h"

namespace assay::conformance {

Result<std::vector<std::vector<Column>>> run_on_gpu(Gpu& gpu, std::span<const Row> rows) {
  std::vector<std::vector<Column>> results;
  for (std::size_t first = 0; first < rows.size(); first += rows_in_a_module) {
    const auto part = rows.subspan(first, std::min(rows_in_a_module, rows.size() - first));
    ASSAY_TRY_VOID(gpu.load(module_of(part)));
    for (std::size_t k = 0; k < part.size(); ++k) {
      const Row& row = part[k];
      gpu.free_all();
      std::vector<std::byte> out(output_size(row)), cells(16 * row.inputs->threads());
      ASSAY_TRY(const Gpu::Address in, gpu.upload(input_bytes(row)));
      ASSAY_TRY(const Gpu::Address at, gpu.upload(out));
      ASSAY_TRY(const Gpu::Address own, gpu.upload(cells));
      const Gpu::Argument args[] = {{in}, {at}, {own}};
      if (auto done = gpu.launch(fmt::format("row_{}", k), {1, 1, 1}, {row.inputs->threads(), 1, 1}, 0, args);
          !done)
        return environment_error({}, "{}: {}", row.ptx, done.error().message);
      ASSAY_TRY_VOID(gpu.download(at, out));
      results.push_back(output_columns(row, out));
    }
  }
  gpu.free_all();
  return results;
}

} // namespace assay::conformance
