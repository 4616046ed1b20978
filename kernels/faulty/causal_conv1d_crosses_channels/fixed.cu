// y[t] = bias + sum_j weight[j] x[t - (width - 1) + j] for each channel of each batch.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(128)
    conv(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
         int channels, int length, int width) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= length) return;
  const int channel = blockIdx.y;
  const long long first = (static_cast<long long>(blockIdx.z) * channels + channel) * length;
  float sum = static_cast<float>(bias[channel]);
  for (int j = 0; j < width; ++j) {
    const int from = t - (width - 1) + j;
    if (from >= 0)
      sum += static_cast<float>(weight[channel * width + j]) * static_cast<float>(x[first + from]);
  }
  y[first + t] = static_cast<T>(sum);
}
