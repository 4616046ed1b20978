#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void forward(const T* x, T* y, int n) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    const float v = static_cast<float>(x[i]);
    const float e = expf(-fabsf(v));
    y[i] = static_cast<T>(v < 0.0f ? e / (1.0f + e) : 1.0f / (1.0f + e));
  }
}

template <class T> __global__ void backward(const T* grad_y, const T* y_in, T* grad_x, int n) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
    const float g = static_cast<float>(grad_y[i]), y = static_cast<float>(y_in[i]);
    grad_x[i] = static_cast<T>(g * (1.0f - y) * y);
  }
}
