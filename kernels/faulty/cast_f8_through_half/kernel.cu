// float32 to fp8.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T> __global__ void cast(const T* x, __nv_fp8_e4m3* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = __nv_fp8_e4m3(__float2half_rn(fminf(fmaxf((float)x[i], -1000.f), 1000.f)));
}
