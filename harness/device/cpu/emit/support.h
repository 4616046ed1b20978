// Routines that emitted code calls beside the runtime's: what has no short form in LLVM IR. All act on 32
// lanes in memory, defined for whatever bits the inactive lanes hold.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>
#include <span>

namespace assay::cpu {

extern "C" {
void assay_div_u64(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* r); // no lane of b is 0
void assay_div_s64(const std::int64_t* a, const std::int64_t* b, std::int64_t* r);
void assay_rem_u64(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* r);
void assay_rem_s64(const std::int64_t* a, const std::int64_t* b, std::int64_t* r);
void assay_fns(const std::uint32_t* mask, const std::uint32_t* base, const std::int32_t* offset,
               std::uint32_t* r);
void assay_permute(const std::uint32_t* values, const std::uint32_t* index, std::uint32_t* r);
void assay_match_any(std::uint32_t lanes, const std::uint64_t* values,
                     std::uint32_t* r); // lanes of the same value
void assay_compare_lanes(std::uint32_t lanes, const Site* site, const std::uint64_t* a,
                         const std::uint64_t* b, std::uint32_t bits);
// Conversions that round toward zero (mode 1), down (2) or up (3), or to odd; mode 0 is to nearest even.
void assay_s64_to_f32(const std::int64_t* x, float* r, std::uint32_t mode);
void assay_u64_to_f32(const std::uint64_t* x, float* r, std::uint32_t mode);
void assay_s64_to_f64(const std::int64_t* x, double* r, std::uint32_t mode);
void assay_u64_to_f64(const std::uint64_t* x, double* r, std::uint32_t mode);
void assay_s64_to_f32_odd(const std::int64_t* x, float* r);
void assay_u64_to_f32_odd(const std::uint64_t* x, float* r);
void assay_f64_to_f32(const double* x, float* r, std::uint32_t mode);
void assay_f64_to_f32_odd(const double* x, float* r);
void assay_f32_to_f16(const float* x, std::uint16_t* r, std::uint32_t mode);
void assay_f32_to_bf16(const float* x, std::uint16_t* r, std::uint32_t mode);
void assay_f32_to_tf32(const float* x, float* r, std::uint32_t mode); // mode 4: ties away from zero
// Two floats to two 8-bit floats, `high` in the upper byte; saturating, NaN stays; relu[0] != 0: negatives to
// 0.
void assay_f32_to_e4m3x2(const float* high, const float* low, const std::uint32_t* relu, std::uint16_t* r);
void assay_f32_to_e5m2x2(const float* high, const float* low, const std::uint32_t* relu, std::uint16_t* r);
void assay_e4m3x2_to_f16x2(const std::uint16_t* x, std::uint32_t* r);
void assay_e5m2x2_to_f16x2(const std::uint16_t* x, std::uint32_t* r);
}

// These, flow.h's and areas.h's, for the JIT.
std::span<const RuntimeSymbol> support_symbols();

} // namespace assay::cpu
