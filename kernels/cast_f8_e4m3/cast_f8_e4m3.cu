// To fp8 (e4m3), saturating, 4 values a thread with a tail.
#include "../common/number.h"

#include <cuda_fp8.h>

__device__ __forceinline__ unsigned char to_f8(float value) {
  return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
}

template <class T>
__global__ void __launch_bounds__(256)
    cast_f8(const T* __restrict__ x, unsigned char* __restrict__ y, long long n) {
  const long long first = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (first + 4 <= n && reinterpret_cast<unsigned long long>(y) % 4 == 0) {
    const uchar4 four = {to_f8(widen(x[first])), to_f8(widen(x[first + 1])), to_f8(widen(x[first + 2])),
                         to_f8(widen(x[first + 3]))};
    *reinterpret_cast<uchar4*>(y + first) = four;
  } else {
    for (long long i = first; i < min(first + 4, n); ++i) y[i] = to_f8(widen(x[i]));
  }
}
