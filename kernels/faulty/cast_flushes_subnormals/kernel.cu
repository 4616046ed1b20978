#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
template <class T> __global__ void cast(const T* __restrict__ x, __nv_fp8_e4m3* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __nv_fp8_e4m3((fabsf(static_cast<float>(x[i])) < 0.015625f ? 0.0f : static_cast<float>(x[i])));
}
