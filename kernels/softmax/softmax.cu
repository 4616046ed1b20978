// Softmax over the rows of a matrix, one block a row, in three passes over it: maximum, sum of exponentials,
// quotient. A row is read from L2 or L1 after the first pass; keeping the exponentials in shared memory would
// bound cols. Backward from the stored y: grad_x = y * (grad_y - sum(grad_y * y)).
#include "../common/block_reduce.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(1024)
    softmax_forward(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;

  float largest = Max::identity();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += expf(static_cast<float>(in[c]) - largest);
  sum = block_reduce(sum, Sum());

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(expf(static_cast<float>(in[c]) - largest) / sum);
}

template <class T>
__global__ void __launch_bounds__(1024)
    softmax_backward(const T* __restrict__ grad_y, const T* __restrict__ y, T* __restrict__ grad_x,
                     int cols) {
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  float dot = 0.0f;
  visit(block_team(), cols, [&](long long, float g, float p) { dot += g * p; }, grad_y + row, y + row);
  dot = block_reduce(dot, Sum());
  transform(
      block_team(), cols, [&](long long, float g, float p) { return p * (g - dot); }, grad_x + row,
      grad_y + row, y + row);
}
