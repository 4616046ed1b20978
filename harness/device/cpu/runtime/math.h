// Approximate functions and arithmetic that has no single LLVM instruction, for 32 lanes at a time. All lanes
// are computed (inputs outside the active mask are arbitrary values, never undefined behaviour). Subnormal
// operands and results are kept: .ftz is the caller's. A NaN result is the hardware's, 0x7fffffff (f16, bf16:
// 0x7fff). Bits are the same on every machine.
//
// The bounds behind the PTX name are the PTX ISA's (8.x, floating-point instructions); ours, measured against
// MPFR by tests/device/math_test.cpp, is at most 0.501 ulp of the exact result for each of them.
#pragma once

#include "harness/device/cpu/runtime/abi.h"

#include <cstdint>

namespace assay::cpu {

extern "C" {
void assay_ex2_f32(const float* x,
                   float* y); // ex2.approx: relative error 2^-22.5 where normal (2 ulp); 2^-inf = 0
void assay_lg2_f32(const float* x,
                   float* y); // lg2.approx: 2^-22 absolute in (0.5, 2), else relative; of +-0: -inf
void assay_sin_f32(const float* x,
                   float* y); // sin.approx: 2^-20.5 absolute in [-pi, pi]; of +-inf: NaN, of -0: -0
void assay_cos_f32(const float* x, float* y);  // cos.approx: the same
void assay_tanh_f32(const float* x, float* y); // tanh.approx: relative error 2^-11
void assay_rcp_f32(const float* x, float* y);  // rcp.approx: 1 ulp; correctly rounded here
void assay_rsqrt_f32(const float* x,
                     float* y); // rsqrt.approx: relative error 2^-22.9; of -0: -inf, below 0: NaN
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the upper words, as the ISA says (a NaN whose upper word is
// an infinity's counts as one); 2^-20.5 relative; NaN 0x7fffffff00000000.
void assay_rcp_ftz_f64(const double* x, double* y);
void assay_rsqrt_ftz_f64(const double* x, double* y);
void assay_rsqrt_f64(const double* x, double* y); // rsqrt.approx.f64: 1 ulp of double
// div.full.f32 (2 ulp), div.approx.f32 (2 ulp) and sqrt.approx.f32 (2^-23 relative) are assay_div_f32 and
// assay_sqrt_f32 to nearest; div.approx of |b| > 2^126 (a result of 0) is the caller's. Directed roundings,
// exact: mode is 0 nearest even, 1 toward zero, 2 down, 3 up.
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
// f16 with .ftz: zero of its sign where smaller than the smallest normal number, rounded with unbounded
// exponents.
void assay_fma_ftz_f16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c,
                       std::uint16_t* r);
void assay_fma_bf16(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* c, std::uint16_t* r);
}

} // namespace assay::cpu
