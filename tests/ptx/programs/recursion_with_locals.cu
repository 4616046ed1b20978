//! launch grid=2 block=64 words=128
//! expect i % 24 < 2 ? i % 24 : (i % 24) * (i % 24 - 1) / 2
// Each level keeps an array whose address escapes, so that it lies in local memory.
__device__ __noinline__ unsigned sum_below(unsigned n, unsigned* up) {
  unsigned mine[4] = {n, up[0], up[1], 0};
  if (n == 0) return mine[3];
  const unsigned rest = sum_below(n - 1, mine);
  return rest + mine[0] - 1 + (mine[1] - up[0]);
}
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned none[4] = {0, 0, 0, 0};
  out[i] = i % 24 == 0 ? 0 : i % 24 == 1 ? 1 : sum_below(i % 24, none);
}
