// Maximum of each row, one block a row; NaN wins.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int BLOCK = 256;

__device__ float larger(float a, float b) { return a > b || a != a ? a : b; }

template <class T>
__global__ void __launch_bounds__(BLOCK) row_max(const T* __restrict__ x, T* __restrict__ y, int cols) {
  __shared__ float partial[BLOCK];
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  float largest = __int_as_float(0xff800000);
  for (int c = threadIdx.x; c < cols; c += BLOCK) largest = larger(static_cast<float>(in[c]), largest);
  partial[threadIdx.x] = largest;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] = larger(partial[threadIdx.x + half], partial[threadIdx.x]);
  }
  if (threadIdx.x == 0) y[blockIdx.x] = static_cast<T>(partial[0]);
}
