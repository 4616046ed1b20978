// silu(x) = x sigmoid(x) and its derivative, by the exponential of -|x|, which does not overflow.
#pragma once

__device__ __forceinline__ float silu(float x) {
  const float e = expf(-fabsf(x));
  return (x < 0.0f ? x * e : x) / (1.0f + e);
}

__device__ __forceinline__ float silu_slope(float x) {
  const float e = expf(-fabsf(x));
  const float s = (x < 0.0f ? e : 1.0f) / (1.0f + e), beside = (x < 0.0f ? 1.0f : e) / (1.0f + e);
  return s * (1.0f + x * beside); // beside: 1 - s without its cancellation
}
