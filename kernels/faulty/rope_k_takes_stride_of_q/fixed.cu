// Rotary embedding, a token a block, of views.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __device__ void turn(const T* x, long long hs, T* y, const float* row, int heads, int hd) {
  const int h = hd / 2;
  for (int i = threadIdx.x; i < heads * h; i += blockDim.x) {
    const int head = i / h, d = i % h;
    const float a = (float)x[head * hs + d], b = (float)x[head * hs + d + h];
    y[head * hd + d] = (T)(a * row[d] - b * row[hd + d]);
    y[head * hd + d + h] = (T)(b * row[d + h] + a * row[hd + d + h]);
  }
}
template <class T>
__global__ void rope(const T* q, long long qt, long long qs, const T* k, long long kt, long long ks,
                     const float* cache, const int* pos, T* qo, T* ko, int qh, int kh, int hd) {
  const long long t = blockIdx.x;
  const float* row = cache + (long long)pos[t] * 2 * hd;
  turn(q + t * qt, qs, qo + t * qh * hd, row, qh, hd);
  turn(k + t * kt, ks, ko + t * kh * hd, row, kh, hd);
}
