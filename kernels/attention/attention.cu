// Attention by an online softmax over tiles of 32 keys, 16 queries of one head a block. Each of the 4 warps
// has 4 queries: a lane scores one key of the tile, then owns columns lane, lane + 32, ... of the output.
// Causal: query i sees the keys j with j - kv_len <= i - q_len; one that sees none gives 0.
#include "../common/softmax_state.h"

constexpr int tile_queries = 16, tile_keys = 32, warps = 4, max_columns = 4; // head_dim at most 128

template <class T>
__global__ void __launch_bounds__(32 * warps)
    attention(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out,
              int q_len, int kv_len, int head_dim, int causal) {
  extern __shared__ float shared[];
  const int stride = head_dim + 1; // odd where head_dim is even: lanes on different banks
  float* queries = shared;
  float* keys = queries + tile_queries * stride;
  float* values = keys + tile_keys * stride;

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const size_t head = blockIdx.y;
  const int first_query = blockIdx.x * tile_queries;
  const T* q_head = q + head * q_len * head_dim;
  const T* k_head = k + head * kv_len * head_dim;
  const T* v_head = v + head * kv_len * head_dim;
  const float scale = 1.0f / sqrtf(static_cast<float>(head_dim));

  const auto keys_seen = [&](int query) {
    return causal ? min(max(kv_len - q_len + query + 1, 0), kv_len) : kv_len;
  };
  const auto load = [&](float* tile, const T* from, int first, int rows, int end) {
    for (int i = threadIdx.x; i < rows * head_dim; i += 32 * warps) {
      const int r = i / head_dim, d = i % head_dim;
      if (first + r < end) tile[r * stride + d] = widen(from[static_cast<size_t>(first + r) * head_dim + d]);
    }
  };

  load(queries, q_head, first_query, tile_queries, q_len);
  constexpr int mine = tile_queries / warps;
  float largest[mine], total[mine], sum[mine][max_columns];
  for (int i = 0; i < mine; ++i) {
    largest[i] = minus_infinity();
    total[i] = 0.0f;
    for (int c = 0; c < max_columns; ++c) sum[i][c] = 0.0f;
  }

  const int last_key = keys_seen(min(first_query + tile_queries, q_len) - 1);
  for (int first = 0; first < last_key; first += tile_keys) {
    __syncthreads();
    load(keys, k_head, first, tile_keys, kv_len);
    load(values, v_head, first, tile_keys, kv_len);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < mine; ++i) {
      const int slot = warp * mine + i;
      if (first_query + slot >= q_len) continue;
      const int seen = min(keys_seen(first_query + slot) - first, tile_keys); // of this tile
      if (seen <= 0) continue;
      float score = minus_infinity();
      if (lane < seen) {
        float dot = 0.0f;
        for (int d = 0; d < head_dim; ++d) dot += queries[slot * stride + d] * keys[lane * stride + d];
        score = dot * scale;
      }
      const float now = fmaxf(largest[i], warp_reduce(score, Max()));
      const float weight = lane < seen ? rescale(score, now) : 0.0f;
      const float old = rescale(largest[i], now);
      total[i] = total[i] * old + warp_reduce(weight, Sum());
      largest[i] = now;
#pragma unroll
      for (int c = 0; c < max_columns; ++c) sum[i][c] *= old;
      for (int j = 0; j < seen; ++j) {
        const float of_key = __shfl_sync(all_lanes, weight, j);
#pragma unroll
        for (int c = 0; c < max_columns; ++c)
          if (lane + 32 * c < head_dim) sum[i][c] += of_key * values[j * stride + lane + 32 * c];
      }
    }
  }

#pragma unroll
  for (int i = 0; i < mine; ++i) {
    const int query = first_query + warp * mine + i;
    if (query >= q_len) continue;
    T* to = out + (head * q_len + query) * head_dim;
#pragma unroll
    for (int c = 0; c < max_columns; ++c)
      if (lane + 32 * c < head_dim)
        to[lane + 32 * c] = static_cast<T>(keys_seen(query) > 0 ? sum[i][c] / total[i] : 0.0f);
  }
}
