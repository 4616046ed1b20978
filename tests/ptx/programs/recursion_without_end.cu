//! launch grid=1 block=32 words=32
//! fault trap the stack overflows
__device__ __noinline__ unsigned deeper(unsigned n, const unsigned* stop) {
  if (*stop == n) return 0;
  return (deeper(n + 1, stop) ^ 5) + deeper(n + 2, stop);
}
__device__ unsigned never = 0xffffffffu;
extern "C" __global__ void test(unsigned* out) { out[threadIdx.x] = deeper(threadIdx.x, &never); }
