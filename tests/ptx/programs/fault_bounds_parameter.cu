//! launch grid=1 block=32 words=32
//! fault out_of_bounds past the end of the parameters, 8 bytes
//! expect 1
extern "C" __global__ void test(unsigned* out) {
  unsigned high;
#ifdef RIGHT
  asm volatile("ld.param.u32 %0, [test_param_0+4];" : "=r"(high));
#else
  asm volatile("ld.param.u32 %0, [test_param_0+8];" : "=r"(high));
#endif
  out[threadIdx.x] = high == (unsigned)((unsigned long long)out >> 32);
}
