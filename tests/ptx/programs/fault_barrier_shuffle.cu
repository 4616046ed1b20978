//! launch grid=1 block=32 words=32
//! fault barrier which do not come
//! expect i < 16 ? 31 - 16 - i : 0
extern "C" __global__ void test(unsigned* out) {
  unsigned value = 0;
#ifdef RIGHT
  const unsigned lanes = 0x0000ffffu;
#else
  const unsigned lanes = 0xffffffffu;
#endif
  if (threadIdx.x < 16) {
    value = __shfl_xor_sync(lanes, threadIdx.x, 15);
  } else {
    out[threadIdx.x] = 1;
    __syncwarp(0xffff0000u);
  }
  out[threadIdx.x] = value;
}
