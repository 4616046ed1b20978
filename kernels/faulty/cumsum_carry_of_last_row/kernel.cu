#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void row_cumsum(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  __shared__ float warp_total[8];
  float carry = 0.0f;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = x + static_cast<size_t>(row) * cols;
    T* out = y + static_cast<size_t>(row) * cols;
    for (int first = 0; first < cols; first += 256) {
      const int c = first + threadIdx.x;
      float sum = c < cols ? static_cast<float>(in[c]) : 0.0f;
      for (int d = 1; d < 32; d *= 2) {
        const float left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += left;
      }
      if (lane == 31) warp_total[warp] = sum;
      __syncthreads();
      float before = carry, all = carry;
      for (int w = 0; w < 8; ++w) {
        if (w < warp) before += warp_total[w];
        all += warp_total[w];
      }
      if (c < cols) out[c] = static_cast<T>(before + sum);
      carry = all;
      __syncthreads();
    }
  }
}
