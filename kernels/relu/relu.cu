// y = max(x, 0), where NaN stays.
#include "../common/elementwise.h"

struct Relu {
  static __device__ float value(float x) { return x < 0.0f ? 0.0f : x; }
  static __device__ float slope(float x) { return x > 0.0f ? 1.0f : x <= 0.0f ? 0.0f : x; }
};
