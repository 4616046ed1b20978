// Approximate functions and arithmetic that has no single LLVM instruction, for 32 lanes at a time. All lanes
// are computed (inputs outside the active mask are arbitrary values, never undefined behaviour). Each
// approximate function states its own bound, which lies inside the one that the PTX ISA documents.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>

namespace assay::cpu {

extern "C" {
// PTX ex2.approx.f32 and friends: correctly rounded from a double evaluation up to 2^-40 relative, so within
// 0.51 ulp.
void assay_ex2_f32(const float* x, float* y);
void assay_lg2_f32(const float* x, float* y);
void assay_sin_f32(const float* x, float* y);
void assay_cos_f32(const float* x, float* y);
void assay_tanh_f32(const float* x, float* y);
void assay_rcp_f32(const float* x, float* y);
void assay_rsqrt_f32(const float* x, float* y);
void assay_rcp_f64(const double* x, double* y);   // rcp.approx.ftz.f64
void assay_rsqrt_f64(const double* x, double* y); // rsqrt.approx.f64
// Directed and odd roundings: mode is 0 nearest even, 1 toward zero, 2 down, 3 up.
void assay_add_f32(const float* a, const float* b, float* r, unsigned mode);
void assay_mul_f32(const float* a, const float* b, float* r, unsigned mode);
void assay_fma_f32(const float* a, const float* b, const float* c, float* r, unsigned mode);
void assay_div_f32(const float* a, const float* b, float* r, unsigned mode);
void assay_rcp_rounded_f32(const float* a, float* r, unsigned mode);
void assay_sqrt_f32(const float* a, float* r, unsigned mode);
void assay_add_f64(const double* a, const double* b, double* r, unsigned mode);
void assay_mul_f64(const double* a, const double* b, double* r, unsigned mode);
void assay_fma_f64(const double* a, const double* b, const double* c, double* r, unsigned mode);
void assay_div_f64(const double* a, const double* b, double* r, unsigned mode);
void assay_sqrt_f64(const double* a, double* r, unsigned mode);
// Fused multiply-add of half types, one rounding.
void assay_fma_f16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c, std::uint16_t* r);
void assay_fma_bf16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c, std::uint16_t* r);
}

} // namespace assay::cpu
