// y = max(x, 0), and its gradient; NaN stays NaN.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void relu_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  y[i] = static_cast<T>(v < 0.0f ? 0.0f : v);
}

template <class T>
__global__ void relu_backward(const T* __restrict__ grad_y, const T* __restrict__ x, T* __restrict__ grad_x,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  grad_x[i] = static_cast<float>(x[i]) > 0.0f ? grad_y[i] : static_cast<T>(0.0f);
}
