// y = x / 2 (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3), and its gradient.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr float factor = 0.79788456080286536f;
constexpr float cubic = 0.0447f;

template <class T> __global__ void gelu_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  const float u = factor * (v + cubic * v * v * v);
  y[i] = static_cast<T>(v / (1.0f + expf(-2.0f * u)));
}

template <class T>
__global__ void gelu_backward(const T* __restrict__ grad_y, const T* __restrict__ x, T* __restrict__ grad_x,
                              int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  const float u = factor * (v + 0.044715f * v * v * v);
  const float s = 1.0f / (1.0f + expf(-2.0f * u));
  const float rest = 1.0f / (1.0f + expf(2.0f * u));
  const float slope = factor * (1.0f + 3.0f * 0.044715f * v * v);
  const float inner = s * rest;
  const float derivative = s + (inner > 0.0f ? 2.0f * v * inner * slope : 0.0f);
  grad_x[i] = static_cast<T>(static_cast<float>(grad_y[i]) * derivative);
}
