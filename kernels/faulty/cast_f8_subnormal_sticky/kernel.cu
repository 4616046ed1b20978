// float32 and float16 to E4M3 by their bits: nearest even, saturating.
#include <cuda_fp16.h>

__device__ unsigned char encode(float x) {
  const unsigned bits = __float_as_uint(x), sign = (bits >> 24) & 0x80u;
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7fu;
  if (magnitude >= 0x43e00000u) return sign | 0x7eu; // 448 and more
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  unsigned significand = (magnitude & 0x7fffffu) | (exponent > -127 ? 0x800000u : 0u);
  unsigned code = 0;
  constexpr int shift = 20;
  if (exponent < -6)
    significand >>= min(-6 - exponent, 24);
  else
    code = static_cast<unsigned>(exponent + 6) << 3;
  const unsigned kept = significand >> shift, rest = significand & ((1u << shift) - 1);
  const unsigned half = 1u << (shift - 1);
  code += kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  return sign | code;
}

template <class T> __global__ void cast(const T* __restrict__ x, unsigned char* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = encode(static_cast<float>(x[i]));
}
