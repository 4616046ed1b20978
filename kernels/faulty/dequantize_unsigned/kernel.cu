// y = q * scale of each row.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(256)
    dequantize(const unsigned char* __restrict__ q, const float* __restrict__ scale, T* __restrict__ y,
               int cols) {
  const size_t first = static_cast<size_t>(blockIdx.x) * cols;
  const float factor = scale[blockIdx.x];
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[first + c] = static_cast<T>(static_cast<float>(q[first + c]) * factor);
}
