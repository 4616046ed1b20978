// Directed roundings: the processor's own, set around a loop over the lanes.
#include "harness/device/cpu/runtime/math.h"

#include <bit>
#include <cfenv>
#include <cmath>

#pragma STDC FENV_ACCESS ON

namespace assay::cpu {
namespace {

class RoundingMode {
 public:
  explicit RoundingMode(unsigned mode) : before_(std::fegetround()) {
    static constexpr int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[mode & 3]);
  }
  ~RoundingMode() { std::fesetround(before_); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;

 private:
  int before_;
};

inline float canonical(float v) { return v == v ? v : std::bit_cast<float>(0x7fffffffu); }
inline double canonical(double v) {
  return v == v ? v : std::bit_cast<double>(std::uint64_t{0x7fffffffffffffffu});
}

template <class T, class F> void lanes(unsigned mode, T* r, F&& f) {
  const RoundingMode rounding(mode);
  for (unsigned i = 0; i < warp_lanes; ++i) r[i] = canonical(f(i));
}

} // namespace

void assay_add_f32(const float* a, const float* b, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] + b[i]; });
}
void assay_mul_f32(const float* a, const float* b, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] * b[i]; });
}
void assay_fma_f32(const float* a, const float* b, const float* c, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return std::fma(a[i], b[i], c[i]); });
}
void assay_div_f32(const float* a, const float* b, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] / b[i]; });
}
void assay_rcp_rounded_f32(const float* a, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return 1.0f / a[i]; });
}
void assay_sqrt_f32(const float* a, float* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return std::sqrt(a[i]); });
}
void assay_add_f64(const double* a, const double* b, double* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] + b[i]; });
}
void assay_mul_f64(const double* a, const double* b, double* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] * b[i]; });
}
void assay_fma_f64(const double* a, const double* b, const double* c, double* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return std::fma(a[i], b[i], c[i]); });
}
void assay_div_f64(const double* a, const double* b, double* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return a[i] / b[i]; });
}
void assay_sqrt_f64(const double* a, double* r, unsigned mode) {
  lanes(mode, r, [&](unsigned i) { return std::sqrt(a[i]); });
}

} // namespace assay::cpu
