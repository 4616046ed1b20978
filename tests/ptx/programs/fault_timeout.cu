//! launch grid=1 block=32 words=32 budget=10000
//! fault timeout executed more than 10000 basic blocks, last at tests/ptx/programs/fault_timeout.cu
//! expect 100
extern "C" __global__ void test(unsigned* out) {
  volatile unsigned count = 0;
#ifdef RIGHT
  while (count < 100) count = count + 1;
#else
  while (count < 100) count = 1;
#endif
  out[threadIdx.x] = count;
}
