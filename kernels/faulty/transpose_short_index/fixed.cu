// y[c, r] = x[r, c], one element a thread.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    transpose(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  const size_t place = static_cast<size_t>(col) * rows + row;
  y[place] = x[static_cast<size_t>(row) * cols + col];
}
