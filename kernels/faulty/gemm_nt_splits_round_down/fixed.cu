#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void partial(const T* __restrict__ a, const T* __restrict__ b, float* __restrict__ sums, int m,
                        int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y, first = blockIdx.z * 32;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = first; i < min(first + 32, k); ++i)
    sum += static_cast<float>(a[static_cast<size_t>(row) * k + i]) *
           static_cast<float>(b[static_cast<size_t>(col) * k + i]);
  sums[(static_cast<size_t>(blockIdx.z) * m + row) * n + col] = sum;
}
template <class T>
__global__ void finish(const float* __restrict__ sums, T* __restrict__ c, int count, int splits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0f;
  for (int s = 0; s < splits; ++s) sum += sums[static_cast<size_t>(s) * count + i];
  c[i] = static_cast<T>(sum);
}
