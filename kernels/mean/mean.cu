// The mean of each row; of no columns it is NaN.
#include "../common/row_reduce.h"

template <class Real> struct RowMean {
  using State = Real;
  static __device__ State identity() { return Real(0); }
  static __device__ State add(State s, Real value) { return s + value; }
  static __device__ State merge(State a, State b) { return a + b; }
  static __device__ Real finish(State s, int cols) { return s / static_cast<Real>(cols); }
};
