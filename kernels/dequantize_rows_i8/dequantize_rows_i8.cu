// y = q * scale by rows, one block a row; 4 quantised values at a time where the row's address allows it.
#include "../common/number.h"

template <class T>
__global__ void __launch_bounds__(256)
    dequantize_rows(const signed char* __restrict__ q, const float* __restrict__ scales, T* __restrict__ y,
                    int cols) {
  const signed char* in = q + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  const float scale = scales[blockIdx.x];
  int done = 0;
  if (reinterpret_cast<unsigned long long>(in) % 4 == 0) {
    done = cols - cols % 4;
    for (int c = threadIdx.x * 4; c < done; c += blockDim.x * 4) {
      const char4 four = *reinterpret_cast<const char4*>(in + c);
      out[c] = static_cast<T>(static_cast<float>(four.x) * scale);
      out[c + 1] = static_cast<T>(static_cast<float>(four.y) * scale);
      out[c + 2] = static_cast<T>(static_cast<float>(four.z) * scale);
      out[c + 3] = static_cast<T>(static_cast<float>(four.w) * scale);
    }
  }
  for (int c = done + threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(static_cast<float>(in[c]) * scale);
}
