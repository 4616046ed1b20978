//! launch grid=1 block=64 words=64
//! fault trap assertion "out[threadIdx.x] < limit" failed
//! expect i
#include <assert.h>
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  const unsigned limit = 64;
#else
  const unsigned limit = 40;
#endif
  assert(out[threadIdx.x] < limit);
}
