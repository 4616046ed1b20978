// y = x sigmoid(x).
#include "../common/elementwise.h"
#include "../common/silu.h"

struct Silu {
  static __device__ float value(float x) { return silu(x); }
  static __device__ float slope(float x) { return silu_slope(x); }
};
