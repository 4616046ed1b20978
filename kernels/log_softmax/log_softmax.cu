// y = (x - max) - log(sum(exp(x - max))) over the rows of a matrix, one block a row. Backward from the stored
// y: grad_x = grad_y - exp(y) * sum(grad_y).
#include "../common/block_reduce.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(1024)
    log_softmax_forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  float largest = Max::identity();
  visit(block_team(), cols, [&](long long, float v) { largest = fmaxf(largest, v); }, x + row);
  largest = block_reduce(largest, Max());

  float sum = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { sum += expf(v - largest); }, x + row);
  const float log_sum = logf(block_reduce(sum, Sum()));

  transform(
      block_team(), cols, [&](long long, float v) { return (v - largest) - log_sum; }, y + row, x + row);
}

template <class T>
__global__ void __launch_bounds__(1024)
    log_softmax_backward(const T* __restrict__ grad_y, const T* __restrict__ y, T* __restrict__ grad_x,
                         int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  float sum = 0.0f;
  visit(block_team(), cols, [&](long long, float g) { sum += g; }, grad_y + row);
  sum = block_reduce(sum, Sum());
  transform(
      block_team(), cols, [&](long long, float g, float v) { return g - expf(v) * sum; }, grad_x + row,
      grad_y + row, y + row);
}
