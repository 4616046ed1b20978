#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void f(const T* __restrict__ x, T* __restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float v = static_cast<float>(x[i]);
    y[i] = static_cast<T>(v / (1.0f + expf(-v)));
  }
}
