// Sums and maxima over all threads of a block. blockDim.x is a multiple of 32 and at most 1024.
#pragma once

constexpr unsigned all_lanes = 0xffffffffu;

struct Sum {
  static __device__ float identity() { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return __int_as_float(0xff800000); } // -inf
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <class Combine> __device__ __forceinline__ float warp_reduce(float value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1)
    value = combine(value, __shfl_xor_sync(all_lanes, value, offset));
  return value;
}

// The result, in every thread.
template <class Combine> __device__ float block_reduce(float value, Combine combine) {
  __shared__ float partial[32]; // one a warp
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  value = warp_reduce(value, combine);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < blockDim.x / 32 ? partial[lane] : Combine::identity();
  value = warp_reduce(value, combine);
  __syncthreads(); // the next reduction writes partial again
  return value;
}
