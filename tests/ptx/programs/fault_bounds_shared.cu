//! launch grid=1 block=64 words=64
//! fault out_of_bounds 4 bytes past the end of shared tile, 256 bytes
//! expect (i + 1) % 64
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[64], other[64];
  tile[threadIdx.x] = threadIdx.x;
  other[threadIdx.x] = 0;
  __syncthreads();
#ifdef RIGHT
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 64] + other[threadIdx.x];
#else
  out[threadIdx.x] = tile[threadIdx.x + 1] + other[threadIdx.x];
#endif
}
