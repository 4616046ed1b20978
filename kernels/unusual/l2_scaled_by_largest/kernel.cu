#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// As hypot and BLAS's nrm2: the largest magnitude is divided out, so that no square overflows or underflows.
template <class T> __global__ void l2_normalize(const T* x, T* y, int rows, int cols, float eps) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;
  float largest = 0.0f;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, fabsf(static_cast<float>(x[c])));
  if (largest == 0.0f || isinf(largest)) largest = 1.0f;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float part = static_cast<float>(x[c]) / largest;
    squares += part * part;
  }
  const float norm = sqrtf(squares), least = eps / largest;
  const float divisor = norm < least ? least : norm; // a NaN of the norm stays
  for (int c = 0; c < cols; ++c) y[c] = static_cast<T>(static_cast<float>(x[c]) / largest / divisor);
}
