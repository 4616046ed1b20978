//! launch grid=1 block=64 words=64
//! fault race shared tile
// The message has the name that its author wrote, not the mangled one.
template <class T> __device__ __forceinline__ void reverse(T* out) {
  __shared__ T tile[64];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void test(unsigned* out) { reverse<unsigned>(out); }
