//! launch grid=1 block=64 words=64
//! expect i % 2
__device__ __noinline__ bool is_even(unsigned n);
__device__ __noinline__ bool is_odd(unsigned n) { return n == 0 ? false : !is_even(n) || is_even(n - 1); }
__device__ __noinline__ bool is_even(unsigned n) { return n == 0 ? true : is_odd(n - 1); }
extern "C" __global__ void test(unsigned* out) { out[threadIdx.x] = is_odd(threadIdx.x % 10) ? 1 : 0; }
