// silu stays in float32 before the product.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void f(const T* g, const T* u, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = (float)g[i];
    y[i] = (T)(v / (1.f + expf(-v)) * (float)u[i]);
  }
}
