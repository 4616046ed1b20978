// An elementwise operator and its gradient over n elements, in packs of 16 bytes with a tail. F::value(x...)
// is the function; F::slope(x) its derivative at x, or at the stored y where that is what is passed.
#pragma once

#include "pack.h"

template <class F> struct Value {
  template <class... Real> __device__ auto operator()(long long, Real... v) const { return F::value(v...); }
};

template <class F> struct Gradient {
  template <class Real> __device__ Real operator()(long long, Real g, Real at) const {
    return g * F::slope(at);
  }
};

template <class F, class T>
__global__ void __launch_bounds__(256) elementwise(T* __restrict__ y, long long n, const T* __restrict__ x) {
  transform(grid_team(), n, Value<F>(), y, x);
}

template <class F, class T>
__global__ void __launch_bounds__(256)
    elementwise_of_two(T* __restrict__ y, long long n, const T* __restrict__ a, const T* __restrict__ b) {
  transform(grid_team(), n, Value<F>(), y, a, b);
}

template <class F, class T>
__global__ void __launch_bounds__(256)
    elementwise_backward(const T* __restrict__ grad_y, const T* __restrict__ at, T* __restrict__ grad_x,
                         long long n) {
  transform(grid_team(), n, Gradient<F>(), grad_x, grad_y, at);
}
