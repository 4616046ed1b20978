//! launch grid=2 block=32 words=64
//! expect 3 * i + 3
//! prints thread 33 gave 2.5 and hello 100%
#include <stdio.h>
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  unsigned* mine = (unsigned*)malloc(3 * sizeof(unsigned));
  for (unsigned k = 0; k < 3; ++k) mine[k] = i + k;
  out[i] = mine[0] + mine[1] + mine[2];
  free(mine);
  if (i == 33) printf("thread %u gave %g and %s 100%%\n", i, 2.5, "hello");
}
