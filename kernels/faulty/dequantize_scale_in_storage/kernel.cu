#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void dequantize(const signed char* __restrict__ q, const float* __restrict__ scale,
                           T* __restrict__ y, int count, int cols) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    y[i] = static_cast<T>(static_cast<float>(q[i]) * static_cast<float>(static_cast<T>(scale[i / cols])));
}
