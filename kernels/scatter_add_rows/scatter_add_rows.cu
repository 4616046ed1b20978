// y[index[r]] += x[r]. The rows are added up in float32, either by atomics, one warp a source row, whose
// order and so whose bits differ from run to run, or, where bits matter, by one warp a row and 32 columns of
// y, which looks for its source rows in their order.
#include "../common/number.h"

constexpr int warps = 8;

template <class T>
__global__ void __launch_bounds__(32 * warps) add_rows(const T* __restrict__ x, const int* __restrict__ index,
                                                       float* __restrict__ sums, int rows, int cols) {
  const long long row = static_cast<long long>(blockIdx.x) * warps + threadIdx.y;
  if (row >= rows) return;
  float* to = sums + static_cast<long long>(index[row]) * cols;
  for (int c = threadIdx.x; c < cols; c += 32) atomicAdd(to + c, widen(x[row * cols + c]));
}

template <class T>
__global__ void __launch_bounds__(256)
    round_sums(const float* __restrict__ sums, T* __restrict__ y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(sums[i]);
}

template <class T>
__global__ void __launch_bounds__(32)
    add_rows_in_order(const T* __restrict__ x, const int* __restrict__ index, T* __restrict__ y, int rows,
                      int cols) {
  const int c = blockIdx.y * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < rows; first += 32) {
    const int row = first + threadIdx.x;
    unsigned found = __ballot_sync(0xffffffffu, row < rows && index[row] == blockIdx.x);
    for (; found != 0; found &= found - 1)
      if (c < cols) sum += widen(x[static_cast<long long>(first + __ffs(found) - 1) * cols + c]);
  }
  if (c < cols) y[static_cast<size_t>(blockIdx.x) * cols + c] = static_cast<T>(sum);
}
