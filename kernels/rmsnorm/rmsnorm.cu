// RMS norm over the rows of a matrix, and its gradients. The rows of x may lie apart, as in a part of a fused
// projection.
#include "../common/rmsnorm.h"

template <class T>
__global__ void __launch_bounds__(512)
    rmsnorm_forward(const T* __restrict__ x, long long x_row, const T* __restrict__ weight, T* __restrict__ y,
                    float* __restrict__ rstd, int cols, float eps) {
  const size_t row = blockIdx.x;
  rmsnorm_row<false>(x + row * x_row, weight, y + row * cols, rstd + row, cols, eps);
}

template <class T>
__global__ void __launch_bounds__(512)
    rmsnorm_backward(const T* __restrict__ grad_y, const T* __restrict__ x, long long x_row,
                     const T* __restrict__ weight, const float* __restrict__ rstd, T* __restrict__ grad_x,
                     int cols) {
  const size_t row = blockIdx.x;
  rmsnorm_row_backward<false>(grad_y + row * cols, x + row * x_row, weight, rstd[row], grad_x + row * cols,
                              cols);
}
