#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void add(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* y, int n) {
  const int i = 2 * (blockIdx.x * 64 + threadIdx.x);
  if (i + 1 < n)
    *reinterpret_cast<__nv_bfloat162*>(y + i) = __hadd2(*reinterpret_cast<const __nv_bfloat162*>(a + i),
                                                        *reinterpret_cast<const __nv_bfloat162*>(b + i));
  else if (i < n)
    y[i] = __hadd(a[i], b[i]);
}
