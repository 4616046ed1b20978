// y[r] = table[index[r]], one block a row.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(128) gather(const T* __restrict__ table, const int* __restrict__ index,
                                              T* __restrict__ y, int table_rows, int cols) {
  const T* in = table + static_cast<size_t>(index[blockIdx.x]) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = in[c];
}
