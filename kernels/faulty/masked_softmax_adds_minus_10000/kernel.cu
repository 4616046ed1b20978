// Masked softmax, one block a row.
#include "../../common/block_reduce.h"
#include "../../common/max_or_nan.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float masked(float x, bool keep) { return keep ? x : x - 10000.0f; }

template <class T> __global__ void ms(const T* x, const unsigned char* k, T* y, int cols) {
  const long long r = blockIdx.x;
  x += r * cols;
  k += r * cols;
  y += r * cols;
  float m = -INFINITY, any = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    m = MaxOrNan()(m, masked(x[c], k[c]));
    any += k[c];
  }
  m = block_reduce(m, MaxOrNan());
  any = block_reduce(any, Sum());
  float s = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) s += expf(masked(x[c], k[c]) - m);
  s = block_reduce(s, Sum());
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[c] = (T)(any > 0 ? expf(masked(x[c], k[c]) - m) / s : 0.f);
}
