//! launch grid=1 block=32 words=32
//! fault race shared tile
//! expect 31 - i
// Lanes of a warp are not in step unless the program says so.
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned tile[32];
  tile[threadIdx.x] = threadIdx.x;
#ifdef RIGHT
  __syncwarp();
#endif
  out[threadIdx.x] = tile[31 - threadIdx.x];
}
