// Attention, one warp a query: lane i scores keys i, i + 32, ..., then owns columns i, i + 32, ... of the
// output.
#include "../../common/block_reduce.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void __launch_bounds__(32)
    attention(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out,
              int q_len, int kv_len, int head_dim, int causal) {
  extern __shared__ float weight[];
  const int lane = threadIdx.x;
  const size_t head = blockIdx.y;
  const T* query = q + (head * q_len + blockIdx.x) * head_dim;
  const T* keys = k + head * kv_len * head_dim;
  const T* values = v + head * kv_len * head_dim;
  T* result = out + (head * q_len + blockIdx.x) * head_dim;

  const int query_index = blockIdx.x;
  const int last = causal ? query_index + 1 : kv_len;
  const int seen = min(max(last, 0), kv_len);
  const float scale = 1.0f / sqrtf(static_cast<float>(head_dim));

  float largest = Max::identity();
  for (int j = lane; j < seen; j += 32) {
    float score = 0.0f;
    for (int d = 0; d < head_dim; ++d)
      score += static_cast<float>(query[d]) * static_cast<float>(keys[static_cast<size_t>(j) * head_dim + d]);
    weight[j] = score * scale;
    largest = fmaxf(largest, weight[j]);
  }
  largest = warp_reduce(largest, Max());

  float sum = 0.0f;
  for (int j = lane; j < seen; j += 32) {
    weight[j] = expf(weight[j] - largest);
    sum += weight[j];
  }
  sum = warp_reduce(sum, Sum());
  __syncwarp();

  for (int d = lane; d < head_dim; d += 32) {
    float total = 0.0f;
    for (int j = 0; j < seen; ++j)
      total += weight[j] / sum * static_cast<float>(values[static_cast<size_t>(j) * head_dim + d]);
    result[d] = static_cast<T>(total);
  }
}
