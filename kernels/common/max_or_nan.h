// The largest value, for block_reduce.h; unlike Max there, NaN wins.
#pragma once

struct MaxOrNan {
  static __device__ float identity() { return __int_as_float(0xff800000); } // -inf
  __device__ float operator()(float a, float b) const { return a != a ? a : b != b ? b : fmaxf(a, b); }
};
