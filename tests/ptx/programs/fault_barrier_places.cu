//! launch grid=1 block=64 words=64
//! fault barrier meet at barrier 0 from different places
//! expect i
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncthreads();
#else
  if (threadIdx.x < 32)
    asm volatile("bar.sync 0;");
  else
    asm volatile("bar.sync 0;");
#endif
}
