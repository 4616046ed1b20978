// y = silu(gate) * up, and its gradients.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

template <class T>
__global__ void __launch_bounds__(256)
    forward(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ y, int cols) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float g = static_cast<float>(gate[first + c]);
    const T silu = static_cast<T>(g / (1.0f + expf(-g)));
    y[first + c] = static_cast<T>(static_cast<float>(silu) * static_cast<float>(up[first + c]));
  }
}

template <class T>
__global__ void __launch_bounds__(256)
    backward(const T* __restrict__ grad_y, const T* __restrict__ gate, const T* __restrict__ up,
             T* __restrict__ grad_gate, T* __restrict__ grad_up, int cols) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float dy = static_cast<float>(grad_y[first + c]);
    const float g = static_cast<float>(gate[first + c]);
    const float s = sigmoid(g);
    grad_up[first + c] = static_cast<T>(dy * (g * s));
    const float derivative = s * (1.0f + g * sigmoid(-g));
    grad_gate[first + c] = static_cast<T>(dy * static_cast<float>(up[first + c]) * derivative);
  }
}
