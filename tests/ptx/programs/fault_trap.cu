//! launch grid=1 block=32 words=32
//! fault trap thread (31,0,0) of block (0,0,0) executed a trap
//! expect i
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = threadIdx.x;
#ifndef RIGHT
  if (out[threadIdx.x] == 31) __trap();
#endif
}
