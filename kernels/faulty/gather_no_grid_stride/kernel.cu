#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void gather(const T* __restrict__ table, const int* __restrict__ index, T* __restrict__ y,
                       int rows, int cols) {
  for (int row = blockIdx.x; row < rows; row += rows) {
    const size_t from = static_cast<size_t>(index[row]) * cols, to = static_cast<size_t>(row) * cols;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[to + c] = table[from + c];
  }
}
