// y = 1 / (1 + exp(-x)), by the exponential of -|x|, which does not overflow; backward from the stored y.
#include "../common/elementwise.h"

struct Sigmoid {
  static __device__ float value(float x) {
    const float e = expf(-fabsf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
  }
  static __device__ float slope(float y) { return y * (1.0f - y); }
};
