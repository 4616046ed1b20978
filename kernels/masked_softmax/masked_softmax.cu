// Softmax over what a mask keeps of each row, one block a row. What is dropped is not looked at, so that an
// infinity there does no harm; a row with nothing kept is all 0.
#include "../common/block_reduce.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(1024)
    masked_softmax(const T* __restrict__ x, long long x_row, const unsigned char* __restrict__ mask,
                   long long mask_row, T* __restrict__ y, int cols) {
  const T* in = x + blockIdx.x * x_row;
  const unsigned char* keep = mask + blockIdx.x * mask_row;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;

  float largest = Max::identity();
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (keep[c]) largest = fmaxf(largest, widen(in[c]));
  largest = block_reduce(largest, Max());

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (keep[c]) sum += expf(widen(in[c]) - largest);
  sum = block_reduce(sum, Sum());

  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    out[c] = static_cast<T>(keep[c] ? expf(widen(in[c]) - largest) / sum : 0.0f);
}
