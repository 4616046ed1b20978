// First largest of a row, one warp a row.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ bool better(float v, int c, float b, int at) { return (v != v && b == b) || v > b; }
__device__ bool merge(float v, int c, float b, int at) {
  return (v != v && b == b) || (v > b) || ((v == b || (v != v && b != b)) && c < at);
}

template <class T> __global__ void am(const T* x, int* y, int cols) {
  const int r = blockIdx.x;
  x += (long long)r * cols;
  float best = -INFINITY;
  int at = 0x7fffffff;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = (float)x[c];
    if (better(v, c, best, at)) {
      best = v;
      at = c;
    }
  }
  for (int o = 16; o; o >>= 1) {
    const float v = __shfl_xor_sync(0xffffffffu, best, o);
    const int c = __shfl_xor_sync(0xffffffffu, at, o);
    if (merge(v, c, best, at)) {
      best = v;
      at = c;
    }
  }
  if (threadIdx.x == 0) y[r] = at;
}
