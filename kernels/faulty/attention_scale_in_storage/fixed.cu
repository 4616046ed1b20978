// One warp a query, keys in tiles of 32, online softmax.
#include "../../common/block_reduce.h"
#include "../../common/max_or_nan.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void at(const T* q, const T* k, const T* v, T* out, int heads, int ql, int kl, int hd,
                   int causal) {
  extern __shared__ float acc[]; // head_dim
  const int i = blockIdx.x;
  const long long h = blockIdx.y;
  const int l = threadIdx.x;
  q += (h * ql + i) * hd;
  k += h * kl * hd;
  v += h * kl * hd;
  out += (h * ql + i) * hd;
  for (int d = l; d < hd; d += 32) acc[d] = 0;
  const float scale = (1.0f / sqrtf((float)hd));
  const int end = causal ? min(kl, i + 1 + kl - ql) : kl;
  float m = -INFINITY, s = 0;
  for (int base = 0; base < (end); base += 32) {
    const int j = base + l;
    float x = -INFINITY;
    if (((j) < end)) {
      x = 0;
      for (int d = 0; d < hd; ++d) x += (float)q[d] * (float)k[(long long)(j)*hd + d];
      x *= scale;
    }
    __shared__ float ps[32];
    __syncwarp();
    const float tile = warp_reduce(x, MaxOrNan()), nm = MaxOrNan()(m, tile);
    if (nm == -INFINITY) continue;
    const float fix = expf(m - nm), p = ((j) < end) ? expf(x - nm) : 0.f;
    s = s * fix + warp_reduce(p, Sum());
    m = nm;
    ps[l] = p;
    __syncwarp();
    for (int d = l; d < hd; d += 32) {
      float a = acc[d] * fix;
      for (int t = 0; t < 32; ++t) {
        const float w = ps[t];
        if (((base + t) < end)) a += (w) * (float)v[(long long)(base + t) * hd + d];
      }
      acc[d] = a;
    }
    __syncwarp();
  }
  for (int d = l; d < hd; d += 32) out[d] = (T)(s == 0 ? 0.f : acc[d] / s);
}
