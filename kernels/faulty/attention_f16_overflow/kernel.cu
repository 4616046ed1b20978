#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Attention without a mask. One warp per query, four queries per block; keys and values pass through shared
// memory in tiles of 32 keys. Online softmax: lane i scores key i of the tile, then owns columns i, i+32, ...
// of the output.

constexpr int QUERIES = 4;
constexpr int TILE = 32;
constexpr int MAX_DIM = 128;
constexpr unsigned FULL = 0xffffffffu;

template <typename T>
__global__ void attention_forward(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                                  T* __restrict__ out, int q_len, int kv_len, int head_dim) {
  __shared__ T k_tile[TILE][MAX_DIM + 2];
  __shared__ T v_tile[TILE][MAX_DIM + 2];
  __shared__ float q_row[QUERIES][MAX_DIM];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int query = blockIdx.x * QUERIES + warp;
  const size_t head = blockIdx.y;
  const T* k_head = k + head * kv_len * head_dim;
  const T* v_head = v + head * kv_len * head_dim;

  const float scale = 1.0f / sqrtf((float)head_dim);
  for (int d = lane; d < head_dim; d += 32) {
    const float value = query < q_len ? static_cast<float>(q[(head * q_len + query) * head_dim + d]) : 0.0f;
    q_row[warp][d] = value * scale;
  }

  float running_max = __int_as_float(0xff800000);
  float running_sum = 0.0f;
  T acc[MAX_DIM / 32];
  for (int j = 0; j < MAX_DIM / 32; ++j) acc[j] = static_cast<T>(0.0f);

  for (int first = 0; first < kv_len; first += TILE) {
    const int keys = min(TILE, kv_len - first);
    __syncthreads();
    for (int i = threadIdx.x; i < keys * head_dim; i += blockDim.x) {
      k_tile[i / head_dim][i % head_dim] = k_head[(size_t)first * head_dim + i];
      v_tile[i / head_dim][i % head_dim] = v_head[(size_t)first * head_dim + i];
    }
    __syncthreads();

    float score = __int_as_float(0xff800000);
    if (lane < keys) {
      score = 0.0f;
      for (int d = 0; d < head_dim; ++d) score += q_row[warp][d] * static_cast<float>(k_tile[lane][d]);
    }
    float new_max = fmaxf(running_max, score);
    for (int offset = 16; offset > 0; offset >>= 1) {
      new_max = fmaxf(new_max, __shfl_xor_sync(FULL, new_max, offset));
    }
    const float origin = new_max == __int_as_float(0xff800000) ? 0.0f : new_max;
    const float correction = expf(running_max - origin);
    const float p = lane < keys ? expf(score - origin) : 0.0f;
    float p_sum = p;
    for (int offset = 16; offset > 0; offset >>= 1) p_sum += __shfl_xor_sync(FULL, p_sum, offset);
    running_sum = running_sum * correction + p_sum;
    running_max = new_max;

    float pv[MAX_DIM / 32] = {};
    for (int i = 0; i < keys; ++i) {
      const float weight = __shfl_sync(FULL, p, i);
      for (int j = 0; j < MAX_DIM / 32; ++j) {
        const int d = lane + 32 * j;
        if (d < head_dim) pv[j] += weight * static_cast<float>(v_tile[i][d]);
      }
    }
    for (int j = 0; j < MAX_DIM / 32; ++j) {
      acc[j] = static_cast<T>(static_cast<float>(acc[j]) * correction + pv[j]);
    }
  }

  if (query >= q_len) return;
  for (int j = 0; j < MAX_DIM / 32; ++j) {
    const int d = lane + 32 * j;
    const float total = static_cast<float>(acc[j]);
    if (d < head_dim) out[(head * q_len + query) * head_dim + d] = static_cast<T>(total / running_sum);
  }
}
