//! launch grid=1 block=4 words=4
//! fault uninitialized of local memory, which nobody wrote
//! expect 3 - i
extern "C" __global__ void test(unsigned* out) {
  volatile unsigned mine[4];
#ifdef RIGHT
  for (unsigned k = 0; k < 4; ++k) mine[k] = k;
#else
  for (unsigned k = 0; k < 3; ++k) mine[k] = k;
#endif
  out[mine[3 - threadIdx.x] % 4] = threadIdx.x;
}
