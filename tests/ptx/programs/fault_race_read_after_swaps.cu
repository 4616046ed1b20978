//! launch grid=1 block=64 words=1
//! fault race counter
//! expect 64
__device__ unsigned counter;
extern "C" __global__ void test(unsigned* out) {
  unsigned old = counter, assumed;
  do {
    assumed = old;
    old = atomicCAS(&counter, assumed, assumed + 1);
  } while (old != assumed);
#ifdef RIGHT
  __syncthreads();
#endif
  if (threadIdx.x == 0) out[0] = counter; // no swap compares what is read here
}
