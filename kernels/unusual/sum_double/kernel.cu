#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_sum(const T* x, T* y, int cols) {
  __shared__ double part[64];
  double v = 0.0;
  for (int c = threadIdx.x; c < cols; c += 64)
    v += static_cast<double>(static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c]));
  part[threadIdx.x] = v;
  __syncthreads();
  for (int h = 32; h > 0; h >>= 1) {
    if (threadIdx.x < h) part[threadIdx.x] += part[threadIdx.x + h];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(static_cast<float>(part[0]));
}
