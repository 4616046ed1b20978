// Reductions over the lanes of a warp and over all threads of a block. blockDim.x is a multiple of 32 and at
// most 1024; the other dimensions of the block are 1.
//
// A Combine joins two values and has an identity(); the values may be any trivial type for which there is a
// `shuffled(value, offset)`, the value of the lane whose number differs by `offset`.
#pragma once

constexpr unsigned all_lanes = 0xffffffffu;

__device__ __forceinline__ float shuffled(float value, int offset) {
  return __shfl_xor_sync(all_lanes, value, offset);
}
__device__ __forceinline__ double shuffled(double value, int offset) {
  return __shfl_xor_sync(all_lanes, value, offset);
}

struct Sum {
  static __device__ float identity() { return 0.0f; }
  template <class Real> __device__ Real operator()(Real a, Real b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return __int_as_float(0xff800000); } // -inf
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
  __device__ double operator()(double a, double b) const { return fmax(a, b); }
};

template <class Value, class Combine>
__device__ __forceinline__ Value warp_reduce(Value value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) value = combine(value, shuffled(value, offset));
  return value;
}

// The result, in every thread.
template <class Value, class Combine> __device__ Value block_reduce(Value value, Combine combine) {
  __shared__ Value partial[32]; // one a warp
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  value = warp_reduce(value, combine);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  if (lane < blockDim.x / 32)
    value = partial[lane];
  else
    value = Combine::identity();
  value = warp_reduce(value, combine);
  __syncthreads(); // the next reduction writes partial again
  return value;
}
