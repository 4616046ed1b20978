// As FlashAttention-4 has it: the maximum is raised only where a tile passes it by more than 8 in powers of
// two, so that rescaling is rare and weights reach 2^8. A warp a query, a lane a key of the tile; weights are
// rounded to T.
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int tile = 32, most = 4; // elements of the output a lane

template <class T>
__global__ void attention(const T* q, const T* k, const T* v, T* out, int q_len, int kv_len, int d,
                          int causal) {
  const int row = blockIdx.x, lane = threadIdx.x;
  const size_t head = blockIdx.y;
  const T* query = q + (head * q_len + row) * d;
  const float c = 1.44269504f / sqrtf(static_cast<float>(d));
  const int seen = causal ? min(kv_len, max(0, row + 1 + kv_len - q_len)) : kv_len;
  float largest = Max::identity(), total = 0.0f, output[most] = {};
  for (int first = 0; first < seen; first += tile) {
    const int n = min(tile, seen - first);
    float score = Max::identity();
    if (lane < n) {
      score = 0.0f;
      for (int i = 0; i < d; ++i)
        score += static_cast<float>(query[i]) * static_cast<float>(k[(head * kv_len + first + lane) * d + i]);
      score *= c;
    }
    const float own = warp_reduce(score, Max());
    if (own > largest + 8.0f) {
      const float before = exp2f(largest - own);
      total *= before;
      for (int a = 0; a < most; ++a) output[a] *= before;
      largest = own;
    }
    const float weight = exp2f(score - largest);
    total += warp_reduce(weight, Sum());
    const float stored = static_cast<float>(static_cast<T>(weight));
    for (int t = 0; t < n; ++t) {
      const float w = __shfl_sync(all_lanes, stored, t);
      for (int a = 0; a < most; ++a)
        if (lane + 32 * a < d)
          output[a] += w * static_cast<float>(v[(head * kv_len + first + t) * d + lane + 32 * a]);
    }
  }
  const float inverse = 1.0f / total;
  for (int a = 0; a < most; ++a)
    if (lane + 32 * a < d)
      out[(head * q_len + row) * d + lane + 32 * a] = static_cast<T>(seen > 0 ? output[a] * inverse : 0.0f);
}
