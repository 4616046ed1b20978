// Softmax over the rows of a matrix, one block a row, in two passes over it: the maximum and the sum of
// exponentials are found together.
#include "../common/pack.h"
#include "../common/softmax_state.h"

template <class T>
__global__ void __launch_bounds__(1024) softmax_online(const T* __restrict__ x, T* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;

  SoftmaxState row = MergeSoftmax::identity();
  visit(block_team(), cols, [&](long long, float v) { row = MergeSoftmax()(row, {v, 1.0f}); }, in);
  row = block_reduce(row, MergeSoftmax());

  transform(block_team(), cols, [&](long long, float v) { return expf(v - row.largest) / row.sum; }, out, in);
}
