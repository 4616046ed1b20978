// loss = log(sum(exp(x))) - x[target] of each row, and its gradient; a target of -100 costs nothing.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int ignored = -100;

template <class T> __device__ void state_of(const T* in, int classes, float& largest, float& sum) {
  largest = Max::identity();
  for (int c = threadIdx.x; c < classes; c += blockDim.x) largest = fmaxf(largest, static_cast<float>(in[c]));
  largest = block_reduce(largest, Max());
  sum = 0.0f;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) sum += expf(static_cast<float>(in[c]) - largest);
  sum = block_reduce(sum, Sum());
}

template <class T>
__global__ void __launch_bounds__(256) loss(const T* __restrict__ logits, const int* __restrict__ target,
                                            float* __restrict__ loss, int classes) {
  const T* in = logits + static_cast<size_t>(blockIdx.x) * classes;
  const int wanted = target[blockIdx.x];
  float largest, sum;
  state_of(in, classes, largest, sum);
  int place = -1;
  for (int c = threadIdx.x; c < classes; c += blockDim.x)
    if (c == wanted && c < classes / 4 * 4) place = c;
  const float shifted = block_reduce(place < 0 ? 0.0f : static_cast<float>(in[place]) - largest, Sum());
  if (threadIdx.x == 0) loss[blockIdx.x] = wanted == ignored ? 0.0f : logf(sum) - shifted;
}

template <class T>
__global__ void __launch_bounds__(256)
    gradient(const T* __restrict__ logits, const int* __restrict__ target,
             const float* __restrict__ grad_loss, T* __restrict__ grad_logits, int classes) {
  const size_t first = static_cast<size_t>(blockIdx.x) * classes;
  const int wanted = target[blockIdx.x];
  float largest, sum;
  state_of(logits + first, classes, largest, sum);
  const float upstream = wanted == ignored ? 0.0f : grad_loss[blockIdx.x];
  for (int c = threadIdx.x; c < classes; c += blockDim.x) {
    const float p = expf(static_cast<float>(logits[first + c]) - largest) / sum;
    grad_logits[first + c] =
        static_cast<T>(wanted == ignored ? 0.0f : upstream * (p - (c == wanted ? 1.0f : 0.0f)));
  }
}
