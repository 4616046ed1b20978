// Reductions of rows to one value each, by one kernel (a block a row) or by two (some blocks a row, whose
// states a second kernel merges). A Reduction has a State with its identity(), add(state, value), merge(a,
// b), and finish(state, cols).
#pragma once

#include "block_reduce.h"
#include "pack.h"

template <class Reduction> struct Merge {
  static __device__ auto identity() { return Reduction::identity(); }
  template <class State> __device__ State operator()(State a, State b) const {
    return Reduction::merge(a, b);
  }
};

// Of the columns [0, n) at x, in every thread of the block.
template <class Reduction, class T> __device__ auto reduce_columns(const T* x, int n) {
  auto state = Reduction::identity();
  visit(block_team(), n, [&](long long, Real<T> value) { state = Reduction::add(state, value); }, x);
  return block_reduce(state, Merge<Reduction>());
}

template <template <class> class Reduction, class T>
__global__ void __launch_bounds__(1024)
    row_reduce(const T* __restrict__ x, long long x_row, T* __restrict__ y, int cols) {
  using R = Reduction<Real<T>>;
  const auto state = reduce_columns<R>(x + blockIdx.x * x_row, cols);
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(R::finish(state, cols));
}

// states[row, part] of `chunk` columns each; the parts are blockIdx.x.
template <template <class> class Reduction, class T>
__global__ void __launch_bounds__(256)
    row_reduce_parts(const T* __restrict__ x, long long x_row,
                     typename Reduction<Real<T>>::State* __restrict__ states, int cols, int chunk) {
  const long long first = static_cast<long long>(blockIdx.x) * chunk;
  const int n = static_cast<int>(min(static_cast<long long>(chunk), cols - first));
  const auto state = reduce_columns<Reduction<Real<T>>>(x + blockIdx.y * x_row + first, n);
  if (threadIdx.x == 0) states[static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = state;
}

// One warp a row.
template <template <class> class Reduction, class T>
__global__ void __launch_bounds__(128)
    row_reduce_merge(const typename Reduction<Real<T>>::State* __restrict__ states, T* __restrict__ y,
                     int rows, int cols, int parts) {
  using R = Reduction<Real<T>>;
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  auto state = R::identity();
  for (int part = threadIdx.x % 32; part < parts; part += 32)
    state = R::merge(state, states[static_cast<size_t>(row) * parts + part]);
  state = warp_reduce(state, Merge<R>());
  if (threadIdx.x % 32 == 0) y[row] = static_cast<T>(R::finish(state, cols));
}
