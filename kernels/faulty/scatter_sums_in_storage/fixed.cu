#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void scatter(const T* __restrict__ x, const int* __restrict__ index, T* __restrict__ y, int rows,
                        int table_rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, t = blockIdx.y;
  if (c >= cols) return;
  float sum = 0.0f;
  bool any = false;
  for (int r = 0; r < rows; ++r)
    if (index[r] == t) sum += static_cast<float>(x[static_cast<size_t>(r) * cols + c]), any = true;
  if (any) y[static_cast<size_t>(t) * cols + c] = static_cast<T>(sum);
}
