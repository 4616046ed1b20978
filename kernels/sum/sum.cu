// The sum of each row.
#include "../common/row_reduce.h"

template <class Real> struct RowSum {
  using State = Real;
  static __device__ State identity() { return Real(0); }
  static __device__ State add(State s, Real value) { return s + value; }
  static __device__ State merge(State a, State b) { return a + b; }
  static __device__ Real finish(State s, int) { return s; }
};
