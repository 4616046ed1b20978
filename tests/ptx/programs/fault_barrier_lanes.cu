//! launch grid=1 block=64 words=64
//! fault barrier which do not come
//! expect i
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncthreads();
#else
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
    out[threadIdx.x] = threadIdx.x;
  } else {
    while (((volatile unsigned*)out)[threadIdx.x] == 1000) out[threadIdx.x] = threadIdx.x;
    __syncwarp(0xaaaaaaaa);
    asm volatile("bar.sync 1;");
  }
#endif
}
