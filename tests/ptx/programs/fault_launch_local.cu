//! launch grid=1 block=32 words=32
//! fault launch bytes of local variables a thread (at most 524288)
extern "C" __global__ void test(unsigned* out) {
  volatile unsigned mine[200000];
  mine[threadIdx.x] = 1;
  mine[199999] = 2;
  out[threadIdx.x] = mine[threadIdx.x];
}
