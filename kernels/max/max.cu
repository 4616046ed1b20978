// The maximum of each row; NaN is larger than anything.
#include "../common/row_reduce.h"

template <class Real> struct RowMax {
  using State = Real;
  static __device__ State identity() { return static_cast<Real>(minus_infinity()); }
  static __device__ State merge(State a, State b) { return a > b || a != a ? a : b; }
  static __device__ State add(State s, Real value) { return merge(s, value); }
  static __device__ Real finish(State s, int) { return s; }
};
