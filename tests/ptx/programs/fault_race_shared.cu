//! launch grid=1 block=64 words=64
//! fault race shared tile
//! expect 63 - i
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncthreads();
#endif
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
