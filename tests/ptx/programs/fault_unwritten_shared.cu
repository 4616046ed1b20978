//! launch grid=1 block=64 words=64
//! fault uninitialized shared tile, which nobody wrote
//! expect i < 32 ? 1 : 2
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[64];
#ifdef RIGHT
  tile[threadIdx.x] = threadIdx.x;
#else
  if (threadIdx.x < 32) tile[threadIdx.x] = threadIdx.x;
#endif
  __syncthreads();
  out[threadIdx.x] = 1;
  if (tile[threadIdx.x] >= 32) out[threadIdx.x] = 2;
}
