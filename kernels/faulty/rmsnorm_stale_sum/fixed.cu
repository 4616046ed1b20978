// y = x * rstd * weight, at most eight blocks that stride over the rows.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    rmsnorm(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
            float* __restrict__ rstd, int rows, int cols, float eps) {
  __shared__ float partial[8];
  const int warp = threadIdx.x / 32;
  float squares = 0.0f;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + static_cast<size_t>(row) * cols;
    T* out = y + static_cast<size_t>(row) * cols;
    squares = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      const float v = static_cast<float>(in[c]);
      squares += v * v;
    }
    const float of_warp = warp_reduce(squares, Sum());
    if (threadIdx.x % 32 == 0) partial[warp] = of_warp;
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < 8; ++w) total += partial[w];
    const float scale = 1.0f / sqrtf(total / static_cast<float>(cols) + eps);
    if (threadIdx.x == 0) rstd[row] = scale;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
      out[c] = static_cast<T>(static_cast<float>(in[c]) * scale * static_cast<float>(weight[c]));
    __syncthreads();
  }
}
