//! launch grid=1 block=64 words=64
//! expect i * 3 + i % 5 + i
__device__ __noinline__ unsigned __int128 square(unsigned long long x) { return (unsigned __int128)x * x; }
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  const unsigned long long big = (1ull << 40) + i;
  const unsigned __int128 whole = square(big);
  const unsigned __int128 rest = whole - ((unsigned __int128)1 << 80) - (unsigned __int128)i * i; // 2 i 2^40
  const unsigned twice = (unsigned)(rest >> 40);
  const long long quotient = -(long long)(5 * i + i % 5) / 5, remainder = -(long long)(5 * i + i % 5) % 5;
  out[i] = twice + (unsigned)-quotient + (unsigned)-remainder + i * (__umul64hi(big, 1ull << 24) == 1);
}
