// y[t] = bias + sum over j of weight[j] x[t - (width - 1) + j] for each channel of each batch, x = 0 before
// its start. 256 places a block, whose stretch of x and what reaches into it from the left lie in shared
// memory.
#include "../common/number.h"

constexpr int tile = 256;

template <class T>
__global__ void __launch_bounds__(tile)
    causal_conv1d(const T* __restrict__ x, long long x_batch, long long x_channel,
                  const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y, int channels,
                  int length, int width) {
  extern __shared__ float stretch[]; // width - 1 places before the tile, the tile, the weights
  float* taps = stretch + width - 1 + tile;
  const int channel = blockIdx.y % channels, batch = blockIdx.y / channels;
  const T* in = x + batch * x_batch + channel * x_channel;
  const long long first = static_cast<long long>(blockIdx.x) * tile;
  for (int i = threadIdx.x; i < width - 1 + tile; i += tile) {
    const long long t = first - (width - 1) + i;
    stretch[i] = t >= 0 && t < length ? widen(in[t]) : 0.0f;
  }
  for (int j = threadIdx.x; j < width; j += tile)
    taps[j] = widen(weight[static_cast<size_t>(channel) * width + j]);
  __syncthreads();

  const long long t = first + threadIdx.x;
  if (t >= length) return;
  float sum = widen(bias[channel]);
  const int absent = t < width - 1 ? static_cast<int>(width - 1 - t) : 0; // taps left of the start
  for (int j = absent; j < width; ++j) sum += taps[j] * stretch[threadIdx.x + j];
  y[static_cast<size_t>(blockIdx.y) * length + t] = static_cast<T>(sum);
}
