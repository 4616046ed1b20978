// What a kernel computes in: float32 for every storage type but double.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> struct Arithmetic {
  using type = float;
};
template <> struct Arithmetic<double> {
  using type = double;
};
template <class T> using Real = typename Arithmetic<T>::type;

template <class T> __device__ __forceinline__ Real<T> widen(T value) { return static_cast<Real<T>>(value); }

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }
