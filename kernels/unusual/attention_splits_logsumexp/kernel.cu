// Flash decoding: up to 4 splits of the keys, each with a normalised output and its logsumexp; a second
// kernel weighs them by exp(logsumexp - that of all).
#include "../../common/block_reduce.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void split(const T* q, const T* k, const T* v, float* outputs, float* logsumexps, int q_len,
                      int kv_len, int d, int causal) {
  extern __shared__ float weight[];
  const int row = blockIdx.x, lane = threadIdx.x, splits = gridDim.z;
  const size_t head = blockIdx.y, place = (head * q_len + row) * splits + blockIdx.z;
  const int seen = causal ? min(kv_len, max(0, row + 1 + kv_len - q_len)) : kv_len;
  const int share = (kv_len + splits - 1) / splits, first = blockIdx.z * share;
  const int n = max(0, min(share, seen - first));
  const T* query = q + (head * q_len + row) * d;
  const float scale = rsqrtf(static_cast<float>(d));
  float largest = Max::identity();
  for (int j = lane; j < n; j += 32) {
    const T* key = k + (head * kv_len + first + j) * d;
    float score = 0.0f;
    for (int i = 0; i < d; ++i) score += static_cast<float>(query[i]) * static_cast<float>(key[i]);
    weight[j] = score * scale;
    largest = fmaxf(largest, weight[j]);
  }
  largest = warp_reduce(largest, Max());
  float total = 0.0f;
  for (int j = lane; j < n; j += 32) total += weight[j] = expf(weight[j] - largest);
  total = warp_reduce(total, Sum());
  __syncwarp();
  for (int i = lane; i < d; i += 32) {
    float sum = 0.0f;
    for (int j = 0; j < n; ++j) sum += weight[j] * static_cast<float>(v[(head * kv_len + first + j) * d + i]);
    outputs[place * d + i] = n > 0 ? sum / total : 0.0f;
  }
  if (lane == 0) logsumexps[place] = n > 0 ? largest + logf(total) : Max::identity();
}

template <class T>
__global__ void merge(const float* outputs, const float* logsumexps, T* out, int splits, int d) {
  const size_t row = blockIdx.x;
  float largest = Max::identity(), total = 0.0f;
  for (int s = 0; s < splits; ++s) largest = fmaxf(largest, logsumexps[row * splits + s]);
  const bool sees_none = largest == Max::identity();
  for (int s = 0; s < splits; ++s) total += expf(logsumexps[row * splits + s] - largest);
  const float logsumexp = largest + logf(total);
  for (int i = threadIdx.x; i < d; i += 32) {
    float sum = 0.0f;
    for (int s = 0; s < splits; ++s)
      sum += expf(logsumexps[row * splits + s] - logsumexp) * outputs[(row * splits + s) * d + i];
    out[row * d + i] = static_cast<T>(sees_none ? 0.0f : sum);
  }
}
