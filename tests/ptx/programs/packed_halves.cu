//! launch grid=1 block=32 words=32
//! arch compute_80 compute_90
//! expect 1
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void test(unsigned* out) {
  const float x = 0.25f * threadIdx.x;
  const __half2 h = __floats2half2_rn(x, -x), one = __float2half2_rn(1.0f);
  const __half2 r = __hfma2(h, h, one), m = __hmax2(h, __hneg2(h)), e = h2exp2(__float2half2_rn(3.0f));
  const __nv_bfloat162 b = __floats2bfloat162_rn(x, 2.0f);
  const __nv_bfloat162 d = __hmul2(b, b);
  const __nv_fp8_e4m3 small(1.5f);
  const bool right = __low2float(r) == x * x + 1 && __high2float(m) == x && __low2float(e) == 8.0f &&
                     __high2float(d) == 4.0f && (float)small == 1.5f && __hbeq2(h, h) && __hlt(h.y, one.x) &&
                     __half2int_rn(h.x) == (int)rintf(x) && h2sqrt(one).x == one.x;
  out[threadIdx.x] = right;
}
