// A 400-bit MPFR number with the operators of mathematics, for evaluations that are independent of
// harness/ops.
#pragma once

#include <mpfr.h>

namespace assay::testing {

class Mp {
 public:
  Mp(double exact = 0) { mpfr_init2(v_, 400), mpfr_set_d(v_, exact, MPFR_RNDN); }
  Mp(const Mp& other) : Mp() { mpfr_set(v_, other.v_, MPFR_RNDN); }
  Mp& operator=(const Mp& other) { return mpfr_set(v_, other.v_, MPFR_RNDN), *this; }
  ~Mp() { mpfr_clear(v_); }

  double to_double() const { return mpfr_get_d(v_, MPFR_RNDN); }

  friend Mp operator+(const Mp& a, const Mp& b) { return with(mpfr_add, a, b); }
  friend Mp operator-(const Mp& a, const Mp& b) { return with(mpfr_sub, a, b); }
  friend Mp operator*(const Mp& a, const Mp& b) { return with(mpfr_mul, a, b); }
  friend Mp operator/(const Mp& a, const Mp& b) { return with(mpfr_div, a, b); }
  friend bool operator>(const Mp& a, const Mp& b) { return mpfr_greater_p(a.v_, b.v_) != 0; }
  friend bool operator<=(const Mp& a, const Mp& b) { return mpfr_lessequal_p(a.v_, b.v_) != 0; }
  friend Mp max(const Mp& a, const Mp& b) { return b > a ? b : a; }
  friend Mp abs(const Mp& a) { return with(mpfr_abs, a); }
  friend Mp exp(const Mp& a) { return with(mpfr_exp, a); }
  friend Mp expm1(const Mp& a) { return with(mpfr_expm1, a); }
  friend Mp log(const Mp& a) { return with(mpfr_log, a); }
  friend Mp log1p(const Mp& a) { return with(mpfr_log1p, a); }
  friend Mp sqrt(const Mp& a) { return with(mpfr_sqrt, a); }
  friend Mp rsqrt(const Mp& a) { return with(mpfr_rec_sqrt, a); }
  friend Mp tanh(const Mp& a) { return with(mpfr_tanh, a); }
  friend Mp atan(const Mp& a) { return with(mpfr_atan, a); }
  friend Mp erf(const Mp& a) { return with(mpfr_erf, a); }
  friend Mp erfc(const Mp& a) { return with(mpfr_erfc, a); }

 private:
  template <class F, class... A> static Mp with(F* f, const A&... a) {
    Mp result;
    f(result.v_, a.v_..., MPFR_RNDN);
    return result;
  }
  mpfr_t v_;
};

} // namespace assay::testing
