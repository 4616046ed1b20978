// c = a b, one element of c a thread.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void gemm(const T* __restrict__ a, const T* __restrict__ b, T* __restrict__ c, int m, int n,
                     int k) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  const T* row_of_a = a + static_cast<unsigned short>(row * k);
  float sum = 0.0f;
  for (int i = 0; i < k; ++i)
    sum += static_cast<float>(row_of_a[i]) * static_cast<float>(b[static_cast<size_t>(i) * n + col]);
  c[static_cast<size_t>(row) * n + col] = static_cast<T>(sum);
}
