// Two elements by one conversion.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <class T> __global__ void cast(const T* x, unsigned char* y, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  if (i >= n) return;
  if (i + 1 < n) {
    const __nv_fp8x2_storage_t p =
        __nv_cvt_float2_to_fp8x2(make_float2((float)x[i], (float)x[i + 1]), __NV_SATFINITE, __NV_E4M3);
    y[i] = p & 0xff;
    y[i + 1] = p >> 8;
  } else
    y[i] = __nv_cvt_float_to_fp8((float)x[i], __NV_SATFINITE, __NV_E4M3);
}
