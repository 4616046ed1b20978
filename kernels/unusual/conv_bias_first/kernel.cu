#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void convolve(const T* x, const T* weight, const T* bias, T* y, int channels, int length,
                         int width) {
  const int channel = blockIdx.x % channels;
  x += static_cast<size_t>(blockIdx.x) * length;
  y += static_cast<size_t>(blockIdx.x) * length;
  weight += channel * width;
  for (int t = threadIdx.x; t < length; t += 64) {
    float sum = static_cast<float>(bias[channel]);
    for (int back = 0; back < width && back <= t; ++back)
      sum = fmaf(static_cast<float>(weight[width - 1 - back]), static_cast<float>(x[t - back]), sum);
    y[t] = static_cast<T>(sum);
  }
}
