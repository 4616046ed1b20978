#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <class T> __global__ void row_max(const T* x, T* y, int cols) {
  unsigned best = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = static_cast<float>(x[static_cast<size_t>(blockIdx.x) * cols + c]);
    const unsigned u = __float_as_uint(v), key = isnan(v)          ? 0xffffffffu
                                                 : u & 0x80000000u ? ~u
                                                                   : u | 0x80000000u;
    best = max(best, key);
  }
  best = __reduce_max_sync(~0u, best);
  if (threadIdx.x == 0)
    y[blockIdx.x] = static_cast<T>(
        best == 0xffffffffu ? NAN : __uint_as_float(best & 0x80000000u ? best & 0x7fffffffu : ~best));
}
