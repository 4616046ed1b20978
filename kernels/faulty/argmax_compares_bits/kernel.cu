// Place of the first maximum of each row, one warp a row; the first NaN is the largest.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Place {
  float value;
  int index;
};

__device__ bool before(Place a, Place b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.value != b.value) return __float_as_int(a.value) > __float_as_int(b.value);
  return a.index < b.index;
}

template <class T>
__global__ void __launch_bounds__(32) row_argmax(const T* __restrict__ x, int* __restrict__ y, int cols) {
  const T* in = x + static_cast<size_t>(blockIdx.x) * cols;
  Place best{__int_as_float(0xff800000), 0x7fffffff};
  for (int c = threadIdx.x; c < cols; c += 32) {
    const Place here{static_cast<float>(in[c]), c};
    if (before(here, best)) best = here;
  }
  for (int offset = 16; offset > 0; offset >>= 1) {
    const Place other{__shfl_xor_sync(0xffffffffu, best.value, offset),
                      __shfl_xor_sync(0xffffffffu, best.index, offset)};
    if (other.index != 0x7fffffff && before(other, best)) best = other;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = best.index;
}
