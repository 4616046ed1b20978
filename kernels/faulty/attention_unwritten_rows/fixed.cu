#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Causal attention, aligned to the last key: query i sees keys 0 .. i + kv_len - q_len. One block of 128
// threads per query; the scores of all keys stay in dynamic shared memory (4 * kv_len bytes). A query that
// sees no key gives 0.

constexpr int BLOCK = 128;
constexpr int WARPS = BLOCK / 32;
constexpr int MAX_DIM = 128;
constexpr unsigned FULL = 0xffffffffu;

__device__ float block_max(float v, float* scratch) {
  for (int offset = 16; offset > 0; offset >>= 1) v = fmaxf(v, __shfl_xor_sync(FULL, v, offset));
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = fmaxf(fmaxf(scratch[0], scratch[1]), fmaxf(scratch[2], scratch[3]));
  __syncthreads();
  return v;
}

__device__ float block_sum(float v, float* scratch) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(FULL, v, offset);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
  __syncthreads();
  v = (scratch[0] + scratch[1]) + (scratch[2] + scratch[3]);
  __syncthreads();
  return v;
}

template <typename T>
__global__ void causal_attention(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
                                 T* __restrict__ out, int q_len, int kv_len, int head_dim) {
  extern __shared__ float weight[];
  __shared__ float q_row[MAX_DIM];
  __shared__ float scratch[WARPS];
  const int query = blockIdx.x;
  const size_t head = blockIdx.y;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const T* k_head = k + head * kv_len * head_dim;
  const T* v_head = v + head * kv_len * head_dim;
  T* out_row = out + (head * q_len + query) * head_dim;

  const int keys = min(kv_len, query + 1 + kv_len - q_len);
  if (keys <= 0) {
    for (int d = threadIdx.x; d < head_dim; d += BLOCK) out_row[d] = static_cast<T>(0.0f);
    return;
  }

  const float scale = 1.0f / sqrtf((float)head_dim);
  for (int d = threadIdx.x; d < head_dim; d += BLOCK) {
    q_row[d] = static_cast<float>(q[(head * q_len + query) * head_dim + d]);
  }
  __syncthreads();

  float largest = __int_as_float(0xff800000);
  for (int j = warp; j < keys; j += WARPS) {
    float score = 0.0f;
    for (int d = lane; d < head_dim; d += 32) {
      score += q_row[d] * static_cast<float>(k_head[(size_t)j * head_dim + d]);
    }
    for (int offset = 16; offset > 0; offset >>= 1) score += __shfl_xor_sync(FULL, score, offset);
    score *= scale;
    if (lane == 0) weight[j] = score;
    largest = fmaxf(largest, score);
  }
  largest = block_max(largest, scratch);

  float sum = 0.0f;
  for (int j = threadIdx.x; j < keys; j += BLOCK) {
    weight[j] = expf(weight[j] - largest);
    sum += weight[j];
  }
  sum = block_sum(sum, scratch);

  for (int d = threadIdx.x; d < head_dim; d += BLOCK) {
    float acc = 0.0f;
    for (int j = 0; j < keys; ++j) acc += weight[j] * static_cast<float>(v_head[(size_t)j * head_dim + d]);
    out_row[d] = static_cast<T>(acc / sum);
  }
}
