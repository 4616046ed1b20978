// To fp8 (e4m3), saturating.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T> __global__ void cast(const T* __restrict__ x, unsigned char* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __nv_cvt_float_to_fp8(static_cast<float>(x[i]), __NV_SATFINITE, __NV_E4M3);
}
