//! launch grid=4 block=32 words=32
//! fault race out
//! expect 1
extern "C" __global__ void test(unsigned* out) {
#ifdef RIGHT
  if (blockIdx.x == 0) out[threadIdx.x] = 1;
#else
  out[threadIdx.x] = blockIdx.x + 1;
#endif
}
