#include <cuda_bf16.h>
#include <cuda_fp16.h>

// y[index[r], :] += x[r, :]. Rows are added into a float32 accumulator that the host clears, one warp per
// source row and eight rows per block; a second kernel rounds the accumulator to the output type.

constexpr int ROWS_PER_BLOCK = 8;

template <typename T>
__global__ void scatter_add(const T* __restrict__ x, const int* __restrict__ index, float* __restrict__ acc,
                            int rows, int cols) {
  const int row = blockIdx.x * ROWS_PER_BLOCK + threadIdx.y;
  if (row >= rows) return;
  const T* in = x + (size_t)row * cols;
  float* out = acc + (size_t)index[row] * cols;
  for (int c = threadIdx.x; c < cols; c += 32) atomicAdd(&out[c], static_cast<float>(in[c]));
}

template <typename T>
__global__ void round_to_output(const float* __restrict__ acc, T* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<T>(acc[i]);
}
