#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ bool beats(float a, int i, float b, int j) {
  if (isnan(a) != isnan(b)) return isnan(a);
  if (!isnan(a) && a != b) return a > b;
  return i < j;
}
template <class T> __global__ void row_argmax(const T* __restrict__ x, int* __restrict__ y, int cols) {
  __shared__ float value[128];
  __shared__ int place[128];
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float best = -INFINITY;
  int at = 0x7fffffff;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float v = static_cast<float>(in[c]);
    if (beats(v, c, best, at)) best = v, at = c;
  }
  value[threadIdx.x] = best;
  place[threadIdx.x] = at;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half &&
        beats(value[threadIdx.x + half], place[threadIdx.x + half], value[threadIdx.x], place[threadIdx.x])) {
      value[threadIdx.x] = value[threadIdx.x + half];
      place[threadIdx.x] = place[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<short>(place[0]);
}
