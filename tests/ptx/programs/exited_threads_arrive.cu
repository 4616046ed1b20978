//! launch grid=1 block=96 words=96
//! expect i < 40 ? i + 1 : 5
extern "C" __global__ void test(unsigned* out) {
  __shared__ unsigned count;
  out[threadIdx.x] = 5;
  if (threadIdx.x >= 40) return;
  if (threadIdx.x == 0) count = 1;
  __syncthreads();
  out[threadIdx.x] = threadIdx.x + count;
}
