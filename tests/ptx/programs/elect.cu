//! launch grid=1 block=64 words=64
//! arch compute_90
//! expect i % 32 == 0 ? 2 : i % 32 == 8 ? 1 : 0
extern "C" __global__ void test(unsigned* out) {
  unsigned chosen = 0, upper = 0;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(chosen));
  if (threadIdx.x % 32 >= 8)
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffff00; selp.u32 %0, 1, 0, p; }" : "=r"(upper));
  out[threadIdx.x] = 2 * chosen + upper;
}
