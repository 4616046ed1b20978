// The PTX parser, the support check and the passes before emission on arbitrary bytes.
#include "harness/base/check.h"
#include "harness/device/cpu/emit/blocks.h"
#include "harness/device/cpu/emit/registers.h"
#include "harness/device/cpu/emit/unguard.h"
#include "harness/device/cpu/ptx/catalogue.h"
#include "harness/device/cpu/ptx/parser.h"

#include <cstddef>

namespace {

void check_error(const assay::Error& error) {
  ASSAY_CHECK(error.kind != assay::ErrorKind::internal, "an error of our own");
  ASSAY_CHECK(error.place.file == "fuzzed.ptx" && error.place.line > 0, "an error without its place");
  ASSAY_CHECK(error.message.find('\n') == std::string::npos, "an error of several lines");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  auto module = assay::ptx::parse({reinterpret_cast<const char*>(data), size}, "fuzzed.ptx");
  if (!module) {
    check_error(module.error());
    return 0;
  }
  if (const auto supported = assay::ptx::check_supported(*module); !supported) {
    check_error(supported.error());
    return 0;
  }
  for (assay::ptx::Function& function : module->functions) {
    assay::cpu::fold_constants(function);
    assay::cpu::branch_around_guarded_waits(function);
    assay::cpu::drop_unused_registers(function);
    const auto blocks = assay::cpu::split_blocks(function, "fuzzed.ptx");
    if (!blocks) {
      check_error(blocks.error());
      continue;
    }
    for (const assay::cpu::Block& block : *blocks)
      for (const std::uint32_t successor : block.successors)
        ASSAY_CHECK(successor < blocks->size(), "a block leads nowhere");
    if (blocks->size() * function.registers.size() <= assay::cpu::largest_liveness)
      assay::cpu::find_liveness(function, *blocks);
  }
  return 0;
}
