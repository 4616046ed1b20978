// Mean and sum of squared deviations of some values, in one pass: Welford's updates and their merging.
#pragma once

#include "block_reduce.h"

template <class Real> struct MomentsState {
  Real mean, squares, count;
};
template <class Real>
__device__ __forceinline__ MomentsState<Real> shuffled(MomentsState<Real> m, int offset) {
  return {shuffled(m.mean, offset), shuffled(m.squares, offset), shuffled(m.count, offset)};
}

template <class Real> struct Moments {
  using State = MomentsState<Real>;
  static __device__ State identity() { return {Real(0), Real(0), Real(0)}; }
  static __device__ State add(State s, Real value) {
    s.count += Real(1);
    const Real delta = value - s.mean;
    s.mean += delta / s.count;
    s.squares += delta * (value - s.mean);
    return s;
  }
  static __device__ State merge(State a, State b) {
    if (a.count == Real(0)) return b;
    if (b.count == Real(0)) return a;
    const Real count = a.count + b.count, delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.squares + b.squares + delta * delta * (a.count * share), count};
  }
};
