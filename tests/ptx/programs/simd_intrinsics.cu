//! launch grid=1 block=64 words=64
//! expect (i % 4 + 1) * 1 + 255 + 3 + 2 + 40
// The byte and half-word functions that once were video instructions.
__device__ __noinline__ unsigned bytes(unsigned x) { return x & 255; }
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  const unsigned a = 0x01010101u * (i % 4), b = 0x01010101u;
  unsigned result = bytes(__vadd4(a, b));
  result += bytes(__vsub4(0x00000000u, b));
  result += bytes(__vmaxu4(0x03020103u, 0x01010101u));
  result += bytes(__vavgu4(0x03030303u, 0x01010101u));
  result += __vsadu4(0x0a0a0a0au, 0u);
  if (__vcmpeq4(a, a) != 0xffffffffu || __vabsdiffu4(5u, 9u) != 4u ||
      __vadd2(0x0001ffffu, 0x00010001u) != 0x00020000u)
    result = 0;
  if (__dp4a((int)0x01020304, (int)0x01010101, 5) != 15 || __vmins2(0xffff0001u, 0x00000002u) != 0xffff0001u)
    result = 0;
  out[i] = result;
}
