// y = tanh(x).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float of(float x) { return tanhf(x); }

template <class T> __global__ void tanh_forward(const T* __restrict__ x, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(of(static_cast<float>(x[i])));
}
