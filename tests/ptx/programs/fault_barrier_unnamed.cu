//! launch grid=1 block=32 words=32
//! fault barrier without themselves
//! expect i < 16 ? 15 - i : 47 - i
extern "C" __global__ void test(unsigned* out) {
#ifdef RIGHT
  const unsigned lanes = 0xffffffffu;
#else
  const unsigned lanes = 0x0000ffffu; // the upper half takes part, unnamed
#endif
  out[threadIdx.x] = __shfl_xor_sync(lanes, threadIdx.x, 15);
}
