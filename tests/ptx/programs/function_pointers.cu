//! launch grid=1 block=64 words=64
//! expect i % 4 == 0 ? i + 100 : i % 4 == 1 ? i * 3 : i % 4 == 2 ? i - 2 : 7
typedef unsigned (*Operation)(unsigned);
__device__ __noinline__ unsigned add_hundred(unsigned x) { return x + 100; }
__device__ __noinline__ unsigned times_three(unsigned x) { return x * 3; }
__device__ __noinline__ unsigned minus_two(unsigned x) { return x - 2; }
__device__ __noinline__ unsigned seven(unsigned) { return 7; }
__device__ Operation table[4] = {add_hundred, times_three, minus_two, seven};
__constant__ Operation fixed[4] = {add_hundred, times_three, minus_two, seven};
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  const unsigned once = table[i % 4](i);
  out[i] = fixed[i % 4](i) == once ? once : 0xdeadu;
}
