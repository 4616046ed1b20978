// y = 1 / (1 + exp(-x)).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void sigmoid_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = static_cast<float>(x[i]);
  y[i] = static_cast<T>(1.0f / (1.0f + expf(-v)));
}
