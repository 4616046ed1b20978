#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void forward(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ y, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float g = static_cast<float>(gate[i]);
    y[i] =
        static_cast<T>(static_cast<float>(static_cast<T>(g / (1.0f + expf(-g)))) * static_cast<float>(up[i]));
  }
}
template <class T>
__global__ void backward(const T* __restrict__ grad, const T* __restrict__ gate, const T* __restrict__ up,
                         T* __restrict__ d_gate, T* __restrict__ d_up, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float g = static_cast<float>(gate[i]), u = static_cast<float>(up[i]),
                d = static_cast<float>(grad[i]), s = 1.0f / (1.0f + expf(-g));
    d_gate[i] = static_cast<T>(d * u * (s * (1.0f + g * (1.0f - s))));
    d_up[i] = static_cast<T>(d * (g * s));
  }
}
