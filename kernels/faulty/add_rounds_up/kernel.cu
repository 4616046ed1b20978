#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void add(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ y, int n) {
  const int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < min(first + 4, n); ++i)
    y[i] = static_cast<T>(__fadd_ru(static_cast<float>(a[i]), static_cast<float>(b[i])));
}
