// Attention with an online softmax: a warp a query, keys in tiles of shared memory.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int KEYS = 16;
template <class T>
__global__ void attention(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                          T* __restrict__ out, int q_len, int kv_len, int head_dim, int causal) {
  extern __shared__ float shared[];
  float* query = shared;
  float* total = shared + head_dim;
  float* score = total + head_dim;
  const size_t head = blockIdx.y;
  const T* values = v + static_cast<unsigned short>(head * kv_len * head_dim);
  const int row = blockIdx.x;
  for (int d = threadIdx.x; d < head_dim; d += 32) {
    query[d] = static_cast<float>(q[(head * q_len + row) * head_dim + d]);
    total[d] = 0.0f;
  }
  __syncwarp();
  const int seen = causal ? min(max(kv_len - q_len + row + 1, 0), kv_len) : kv_len;
  const float scale = rsqrtf(static_cast<float>(head_dim));
  float largest = -INFINITY, weight = 0.0f;
  for (int first = 0; first < seen; first += KEYS) {
    const int j = first + threadIdx.x;
    float s = -INFINITY;
    if (threadIdx.x < KEYS && j < seen) {
      s = 0.0f;
      for (int d = 0; d < head_dim; ++d)
        s += query[d] * static_cast<float>(k[(head * kv_len + j) * head_dim + d]);
      s *= scale;
    }
    float now = s;
    for (int d = 16; d > 0; d /= 2) now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, d));
    now = fmaxf(now, largest);
    const float rescale = expf(largest - now);
    const float p = expf(s - now);
    float sum = p;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    weight = weight * rescale + sum;
    largest = now;
    if (threadIdx.x < KEYS) score[threadIdx.x] = p;
    __syncwarp();
    for (int d = threadIdx.x; d < head_dim; d += 32) {
      float t = total[d] * rescale;
      for (int i = 0; i < min(KEYS, seen - first); ++i)
        t += score[i] * static_cast<float>(values[(first + i) * head_dim + d]);
      total[d] = t;
    }
    __syncwarp();
  }
  for (int d = threadIdx.x; d < head_dim; d += 32)
    out[(head * q_len + row) * head_dim + d] = static_cast<T>(seen > 0 ? total[d] / weight : 0.0f);
}
