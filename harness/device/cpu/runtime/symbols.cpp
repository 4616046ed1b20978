#include "harness/device/cpu/runtime/engine.h"
#include "harness/device/cpu/runtime/math.h"

namespace assay::cpu {

std::span<const RuntimeSymbol> runtime_symbols() {
#define ASSAY_SYMBOL(name)                                                                                   \
  {                                                                                                          \
    #name, reinterpret_cast<void*>(&name)                                                                    \
  }
  static const RuntimeSymbol symbols[] = {
      ASSAY_SYMBOL(assay_load),        ASSAY_SYMBOL(assay_store),   ASSAY_SYMBOL(assay_enter_local),
      ASSAY_SYMBOL(assay_leave_local), ASSAY_SYMBOL(assay_barrier), ASSAY_SYMBOL(assay_undefined_used),
      ASSAY_SYMBOL(assay_tick),        ASSAY_SYMBOL(assay_compare), ASSAY_SYMBOL(assay_clock),
  };
#undef ASSAY_SYMBOL
  return symbols;
}

} // namespace assay::cpu
