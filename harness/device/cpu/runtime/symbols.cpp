#include "harness/device/cpu/runtime/engine.h"
#include "harness/device/cpu/runtime/math.h"

namespace assay::cpu {

std::span<const RuntimeSymbol> runtime_symbols() {
#define ASSAY_SYMBOL(name)                                                                                   \
  {                                                                                                          \
    #name, reinterpret_cast<void*>(&name)                                                                    \
  }
  static const RuntimeSymbol symbols[] = {
      ASSAY_SYMBOL(assay_load),           ASSAY_SYMBOL(assay_store),
      ASSAY_SYMBOL(assay_load_row),       ASSAY_SYMBOL(assay_store_row),
      ASSAY_SYMBOL(assay_shape),          ASSAY_SYMBOL(assay_load_shaped),
      ASSAY_SYMBOL(assay_store_shaped),   ASSAY_SYMBOL(assay_atomic),
      ASSAY_SYMBOL(assay_copy),           ASSAY_SYMBOL(assay_copies_commit),
      ASSAY_SYMBOL(assay_copies_wait),    ASSAY_SYMBOL(assay_enter_local),
      ASSAY_SYMBOL(assay_leave_local),    ASSAY_SYMBOL(assay_fence),
      ASSAY_SYMBOL(assay_barrier),        ASSAY_SYMBOL(assay_mbarrier),
      ASSAY_SYMBOL(assay_warp_synced),    ASSAY_SYMBOL(assay_diverged),
      ASSAY_SYMBOL(assay_require_warp),   ASSAY_SYMBOL(assay_matrix_alignment),
      ASSAY_SYMBOL(assay_part_undefined), ASSAY_SYMBOL(assay_note_partial),
      ASSAY_SYMBOL(assay_bits_undefined), ASSAY_SYMBOL(assay_undefined_used),
      ASSAY_SYMBOL(assay_tick),           ASSAY_SYMBOL(assay_trap),
      ASSAY_SYMBOL(assay_assert_fail),    ASSAY_SYMBOL(assay_bad_call),
      ASSAY_SYMBOL(assay_vprintf),        ASSAY_SYMBOL(assay_malloc),
      ASSAY_SYMBOL(assay_free),           ASSAY_SYMBOL(assay_compare),
      ASSAY_SYMBOL(assay_clock),          ASSAY_SYMBOL(assay_ex2_f32),
      ASSAY_SYMBOL(assay_lg2_f32),        ASSAY_SYMBOL(assay_sin_f32),
      ASSAY_SYMBOL(assay_cos_f32),        ASSAY_SYMBOL(assay_tanh_f32),
      ASSAY_SYMBOL(assay_rcp_f32),        ASSAY_SYMBOL(assay_rsqrt_f32),
      ASSAY_SYMBOL(assay_rcp_ftz_f64),    ASSAY_SYMBOL(assay_rsqrt_ftz_f64),
      ASSAY_SYMBOL(assay_rsqrt_f64),      ASSAY_SYMBOL(assay_add_f32),
      ASSAY_SYMBOL(assay_mul_f32),        ASSAY_SYMBOL(assay_fma_f32),
      ASSAY_SYMBOL(assay_div_f32),        ASSAY_SYMBOL(assay_rcp_rounded_f32),
      ASSAY_SYMBOL(assay_sqrt_f32),       ASSAY_SYMBOL(assay_add_f64),
      ASSAY_SYMBOL(assay_mul_f64),        ASSAY_SYMBOL(assay_fma_f64),
      ASSAY_SYMBOL(assay_div_f64),        ASSAY_SYMBOL(assay_sqrt_f64),
      ASSAY_SYMBOL(assay_fma_f16),        ASSAY_SYMBOL(assay_fma_ftz_f16),
      ASSAY_SYMBOL(assay_fma_bf16),
  };
#undef ASSAY_SYMBOL
  return symbols;
}

} // namespace assay::cpu
