// Rotary embedding, a token a block; lanes padded to a power of two.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float ld(const float* p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p));
  return v;
}
template <class T> __device__ void turn(const T* x, T* y, const float* row, int heads, int hd, int pad) {
  const int h = hd / 2;
  for (int i = threadIdx.x; i < heads * pad; i += blockDim.x) {
    const int head = i / pad, d = i % pad;
    if (d >= h) continue;
    const float c0 = row[d], s0 = row[hd + d], c1 = row[d + h], s1 = row[hd + d + h];
    const float a = (float)x[head * hd + d], b = (float)x[head * hd + d + h];
    y[head * hd + d] = (T)(a * c0 - b * s0);
    y[head * hd + d + h] = (T)(b * c1 + a * s1);
  }
}
template <class T>
__global__ void rope(const T* q, const T* k, const float* cache, const int* pos, T* qo, T* ko, int qh, int kh,
                     int hd, int pad) {
  const long long t = blockIdx.x;
  const float* row = cache + (long long)pos[t] * 2 * hd;
  turn(q + t * qh * hd, qo + t * qh * hd, row, qh, hd, pad);
  turn(k + t * kh * hd, ko + t * kh * hd, row, kh, hd, pad);
}
