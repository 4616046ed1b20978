// The maximum of some logits and the sum of exp(logit - maximum) over them, found in one pass: the sum is
// rescaled whenever the maximum grows.
#pragma once

#include "block_reduce.h"
#include "number.h"

struct SoftmaxState {
  float largest, sum;
};

__device__ __forceinline__ SoftmaxState shuffled(SoftmaxState state, int offset) {
  return {shuffled(state.largest, offset), shuffled(state.sum, offset)};
}

// exp(from - to). Where both are -inf nothing finite has been seen yet, and nothing is to be rescaled.
__device__ __forceinline__ float rescale(float from, float to) {
  return to == minus_infinity() && from == to ? 1.0f : expf(from - to);
}

struct MergeSoftmax {
  static __device__ SoftmaxState identity() { return {minus_infinity(), 0.0f}; }
  __device__ SoftmaxState operator()(SoftmaxState a, SoftmaxState b) const {
    const float largest = fmaxf(a.largest, b.largest);
    return {largest, a.sum * rescale(a.largest, largest) + b.sum * rescale(b.largest, largest)};
  }
};
