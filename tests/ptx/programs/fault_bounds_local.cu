//! launch grid=1 block=32 words=32
//! fault out_of_bounds past the end of local memory
//! expect i % 8 + 1
extern "C" __global__ void test(unsigned* out) {
  volatile unsigned mine[8];
  for (unsigned k = 0; k < 8; ++k) mine[k] = k;
#ifdef RIGHT
  const unsigned pick = (threadIdx.x + blockDim.x) % 8;
#else
  const unsigned pick = threadIdx.x + blockDim.x;
#endif
  out[threadIdx.x] = mine[pick] + 1;
}
