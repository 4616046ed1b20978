//! launch grid=1 block=1 words=1
//! fault misaligned its address is 1 byte off a multiple of 4
//! expect 16909060
extern "C" __global__ void test(unsigned* out) {
  __shared__ __align__(8) unsigned char bytes[72];
  for (unsigned k = 0; k < 8; ++k) ((volatile unsigned char*)bytes)[k] = 4 - k % 4;
  unsigned zero;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(zero));
#ifdef RIGHT
  out[0] = *(const volatile unsigned*)(bytes + 4 * zero);
#else
  out[0] = *(const volatile unsigned*)(bytes + 1 + zero);
#endif
}
