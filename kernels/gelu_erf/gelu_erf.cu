// y = x Phi(x), Phi the normal distribution: by erfc, which does not cancel in the left tail.
#include "../common/elementwise.h"

constexpr float sqrt_half = 0.70710678118654752f, one_over_sqrt_two_pi = 0.39894228040143268f;

struct GeluErf {
  static __device__ float value(float x) { return 0.5f * x * erfcf(-x * sqrt_half); }
  static __device__ float slope(float x) {
    return 0.5f * erfcf(-x * sqrt_half) + x * (one_over_sqrt_two_pi * expf(-0.5f * x * x));
  }
};
