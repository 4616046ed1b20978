// log(sum(exp(x))) of each row, one warp a row, rescaled tile by tile.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(32) row_logsumexp(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float largest = Max::identity();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = static_cast<float>(in[c]);
    const float tile = warp_reduce(v, [](float a, float b) { return a > b || a != a ? a : b; });
    const float top = tile > largest || tile != tile ? tile : largest;
    const float origin = isinf(top) ? 0.0f : top;
    sum = sum * expf(largest - origin) + expf(v - origin);
    largest = top;
  }
  largest = warp_reduce(largest, [](float a, float b) { return a > b || a != a ? a : b; });
  const float total = warp_reduce(sum, Sum());
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(isinf(largest) ? largest : largest + logf(total));
}
