//! launch grid=1 block=1 words=1
//! fault misaligned its address is 2 bytes off a multiple of 4
//! expect 1
extern "C" __global__ void test(unsigned* out) {
  unsigned part;
#ifdef RIGHT
  asm volatile("ld.param.u32 %0, [test_param_0];" : "=r"(part));
  out[0] = part == (unsigned)(unsigned long long)out;
#else
  asm volatile("ld.param.u32 %0, [test_param_0+2];" : "=r"(part));
  out[0] = part;
#endif
}
