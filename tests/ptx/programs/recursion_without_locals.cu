//! launch grid=1 block=64 words=64
//! expect (i * 7) % 13
// The compiler cannot turn this into a loop: two calls, and what they give is mixed.
__device__ __noinline__ unsigned mix(unsigned n) {
  if (n < 2) return n;
  return (mix(n - 1) + mix(n - 2) * 6) % 13;
}
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  const unsigned deep = mix(i % 12);
  out[i] = (i * 7) % 13 + (deep > 12 ? 1 : 0);
}
