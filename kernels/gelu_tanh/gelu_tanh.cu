// y = x (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3).
#include "../common/elementwise.h"

constexpr float sqrt_two_over_pi = 0.79788456080286536f, cubic = 0.044715f;

struct GeluTanh {
  static __device__ float inner(float x) { return sqrt_two_over_pi * (x + cubic * x * x * x); }
  static __device__ float value(float x) { return 0.5f * x * (1.0f + tanhf(inner(x))); }
  static __device__ float slope(float x) {
    const float t = tanhf(inner(x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * (sqrt_two_over_pi * (1.0f + 3.0f * cubic * x * x));
  }
};
