//! launch grid=1 block=64 words=64
//! fault uninitialized of shared tile, which nobody wrote
//! expect i * i
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[64];
#ifdef RIGHT
  tile[threadIdx.x] = threadIdx.x;
#else
  if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
#endif
  __syncthreads();
  out[tile[threadIdx.x] % 64] = threadIdx.x * threadIdx.x;
}
