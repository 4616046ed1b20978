// y = 1 / (1 + exp(-x)), and its gradient from the stored y.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void sigmoid_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(1.0f / (1.0f + expf(-static_cast<float>(x[i]))));
}

template <class T>
__global__ void sigmoid_backward(const T* __restrict__ grad_y, const T* __restrict__ y,
                                 T* __restrict__ grad_x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float stored = static_cast<float>(y[i]);
  grad_x[i] = static_cast<T>(static_cast<float>(grad_y[i]) * stored * (1.0f - stored));
}
