// The query is scaled by log2(e) / sqrt(head_dim) before its product with the keys.
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ float larger(float a, float b) {
  return a != a ? a : b != b ? b : fmaxf(a, b);
} // NaN wins
__device__ __forceinline__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}
__device__ __forceinline__ float warp_max(float v) {
  for (int offset = 16; offset > 0; offset >>= 1) v = larger(v, __shfl_xor_sync(0xffffffffu, v, offset));
  return v;
}

template <class T>
__global__ void at(const T* q, const T* k, const T* v, T* out, int heads, int ql, int kl, int hd,
                   int causal) {
  extern __shared__ float acc[];
  float* qs = acc + hd;
  __shared__ float ps[32];
  const int i = blockIdx.x;
  const long long h = blockIdx.y;
  const int l = threadIdx.x;
  q += (h * ql + i) * hd;
  k += h * kl * hd;
  v += h * kl * hd;
  out += (h * ql + i) * hd;
  const float c = 1.0f / sqrtf((float)hd) * 1.44269504f;
  for (int d = l; d < hd; d += 32) {
    acc[d] = 0;
    qs[d] = (float)q[d] * c;
  }
  __syncwarp();
  const int end = causal ? min(kl, i + 1 + kl - ql) : kl;
  float m = -INFINITY, s = 0;
  for (int base = 0; base < end; base += 32) {
    const int j = base + l;
    float x = -INFINITY;
    if (j < end) {
      x = 0;
      for (int d = 0; d < hd; ++d) x += qs[d] * (float)k[(long long)j * hd + d];
    }
    const float nm = larger(m, warp_max(x));
    if (nm == -INFINITY) continue;
    const float fix = exp2f(m - nm), p = j < end ? exp2f(x - nm) : 0.f;
    s = s * fix + warp_sum(p);
    m = nm;
    ps[l] = p;
    __syncwarp();
    for (int d = l; d < hd; d += 32) {
      float a = acc[d] * fix;
      for (int t = 0; t < 32; ++t)
        if (base + t < end) a += ps[t] * (float)v[(long long)(base + t) * hd + d];
      acc[d] = a;
    }
    __syncwarp();
  }
  for (int d = l; d < hd; d += 32) out[d] = (T)(s == 0 ? 0.f : acc[d] / s);
}
