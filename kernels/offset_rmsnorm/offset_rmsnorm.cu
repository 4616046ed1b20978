// RMS norm with a weight that is stored as its difference from 1, as Gemma does, and its gradients.
#include "../common/rmsnorm.h"

template <class T>
__global__ void __launch_bounds__(512)
    offset_rmsnorm_forward(const T* __restrict__ x, const T* __restrict__ weight, T* __restrict__ y,
                           float* __restrict__ rstd, int cols, float eps) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  rmsnorm_row<true>(x + row, weight, y + row, rstd + blockIdx.x, cols, eps);
}

template <class T>
__global__ void __launch_bounds__(512)
    offset_rmsnorm_backward(const T* __restrict__ grad_y, const T* __restrict__ x,
                            const T* __restrict__ weight, const float* __restrict__ rstd,
                            T* __restrict__ grad_x, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  rmsnorm_row_backward<true>(grad_y + row, x + row, weight, rstd[blockIdx.x], grad_x + row, cols);
}
