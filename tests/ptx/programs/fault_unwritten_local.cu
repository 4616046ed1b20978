//! launch grid=1 block=32 words=32
//! fault uninitialized local memory, which nobody wrote
//! expect i % 4
extern "C" __global__ void test(unsigned* out) {
  volatile unsigned mine[4];
#ifdef RIGHT
  for (unsigned k = 0; k < 4; ++k) mine[k] = k;
#else
  for (unsigned k = 0; k < 3; ++k) mine[k] = k;
#endif
  unsigned sum = 0;
  if (mine[threadIdx.x % 4] > 2) sum = 3;
  out[threadIdx.x] = threadIdx.x % 4 == 3 ? sum : threadIdx.x % 4;
}
