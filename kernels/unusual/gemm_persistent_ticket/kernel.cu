// Six blocks take tiles by a ticket until none is left.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T>
__global__ void mm(const T* a, const T* b, T* c, int* ticket, int m, int n, int k, int tiles, int tn) {
  __shared__ int tile;
  const int x = threadIdx.x, y = threadIdx.y;
  for (;;) {
    if (x == 0 && y == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int t = tile;
    __syncthreads();
    if (t >= tiles) return;
    const int i = t / tn * 16 + y, j = t % tn * 16 + x;
    float s = 0;
    if (i < m && j < n) {
      for (int p = 0; p < k; ++p) s = fmaf((float)a[(long long)i * k + p], (float)b[(long long)p * n + j], s);
      c[(long long)i * n + j] = (T)s;
    }
  }
}
