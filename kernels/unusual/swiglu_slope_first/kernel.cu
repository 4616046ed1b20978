#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float sigmoid(float x) { return __fdividef(1.0f, 1.0f + __expf(-x)); }

template <class T> __global__ void forward(const T* gate, const T* up, T* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float x = static_cast<float>(gate[i]);
  const T silu = static_cast<T>(x * sigmoid(x));
  y[i] = static_cast<T>(static_cast<float>(silu) * static_cast<float>(up[i]));
}

template <class T>
__global__ void backward(const T* g, const T* gate, const T* up, T* d_gate, T* d_up, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(g[i]), x = static_cast<float>(gate[i]), s = sigmoid(x), silu = x * s;
  d_up[i] = static_cast<T>(v * silu);
  d_gate[i] = static_cast<T>(v * (silu * (1.0f - s) + s) * static_cast<float>(up[i]));
}
