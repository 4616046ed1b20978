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
    float even = static_cast<float>(bias[channel]), odd = 0.0f;
    for (int back = 0; back < width && back <= t; ++back) {
      float& sum = back % 2 == 0 ? even : odd;
      sum = fmaf(static_cast<float>(weight[width - 1 - back]), static_cast<float>(x[t - back]), sum);
    }
    y[t] = static_cast<T>(even + odd);
  }
}
