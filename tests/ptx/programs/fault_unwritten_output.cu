//! launch grid=1 block=32 words=32
//! fault uninitialized from out[0], which nobody wrote
//! expect 7
extern "C" __global__ void test(unsigned* out) {
#ifdef RIGHT
  out[threadIdx.x] = 0;
#endif
  while (((volatile unsigned*)out)[threadIdx.x] > 7) ((volatile unsigned*)out)[threadIdx.x] = 7;
  out[threadIdx.x] = 7;
}
