#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Part {
  float n, mean, m2;
};
__device__ Part merge(Part a, Part b) {
  const float n = a.n + b.n;
  if (n == 0.0f) return a;
  const float delta = b.mean - a.mean;
  return {n, 0.5f * (a.mean + b.mean), a.m2 + b.m2 + delta * delta * (0.25f * n)};
}
template <class T> __global__ void row_variance(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ Part part[128];
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  Part own{0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = static_cast<float>(in[c]);
    own.n += 1.0f;
    const float delta = v - own.mean;
    own.mean += delta / own.n;
    own.m2 += delta * (v - own.mean);
  }
  part[threadIdx.x] = own;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] = merge(part[threadIdx.x], part[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(part[0].m2 / cols);
}
