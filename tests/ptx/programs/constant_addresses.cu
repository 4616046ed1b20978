//! launch grid=1 block=32 words=32
//! expect 40 + i % 4 + i % 8
// Addresses of .const and .shared variables fit 32 bits, and hand-written PTX keeps them so.
__constant__ unsigned first[4] = {10, 11, 12, 13};
__constant__ unsigned second[8] = {30, 31, 32, 33, 34, 35, 36, 37};
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  unsigned a, b;
  asm("{ .reg .u32 p; mov.u32 p, first; add.u32 p, p, %1; ld.const.u32 %0, [p]; }"
      : "=r"(a)
      : "r"(i % 4 * 4));
  asm("{ .reg .u32 p; mov.u32 p, second; add.u32 p, p, %1; ld.const.u32 %0, [p]; }"
      : "=r"(b)
      : "r"(i % 8 * 4));
  out[i] = a + b + (first[0] - 10) + (second[0] - 30);
}
