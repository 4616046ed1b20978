#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void gemm(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
  if (col >= n) return;
  float sum = 0.0f;
  int i = 0;
  if (k % 2 == 0)
    for (; i + 1 < k; i += 2) {
      const float2 u = __half22float2(*reinterpret_cast<const __half2*>(a + row * k + i)),
                   v = __half22float2(*reinterpret_cast<const __half2*>(b + col * k + i));
      sum += u.x * v.x + u.y * v.y;
    }
  for (; i < k; ++i) sum += __half2float(a[row * k + i]) * __half2float(b[col * k + i]);
  c[row * n + col] = __float2half_rn(sum);
}
