//! launch grid=1 block=64 words=64
//! expect (i + 3) * 5 + i
template <class F> __device__ __noinline__ unsigned apply(F f, unsigned x) { return f(x) + x; }
extern "C" __global__ void test(unsigned* out) {
  const unsigned bias = 3, factor = blockDim.x == 64 ? 5 : 0;
  out[threadIdx.x] = apply([=](unsigned x) { return (x + bias) * factor; }, threadIdx.x);
}
