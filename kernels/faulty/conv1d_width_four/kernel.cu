#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int TILE = 64;
template <class T>
__global__ void conv(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias,
                     T* __restrict__ y, int channels, int length, int width) {
  extern __shared__ float piece[];
  const int channel = blockIdx.y, first = blockIdx.x * TILE;
  const size_t base = (static_cast<size_t>(blockIdx.z) * channels + channel) * length;
  for (int i = threadIdx.x; i < TILE + width - 1; i += blockDim.x) {
    const int t = first + i - (width - 1);
    piece[i] = t >= 0 && t < length ? static_cast<float>(x[base + t]) : 0.0f;
  }
  __syncthreads();
  const int t = first + threadIdx.x;
  if (t >= length) return;
  float sum = static_cast<float>(bias[channel]);
  for (int j = max(0, width - 4); j < width; ++j)
    sum += static_cast<float>(weight[channel * width + j]) * piece[threadIdx.x + j];
  y[base + t] = static_cast<T>(sum);
}
