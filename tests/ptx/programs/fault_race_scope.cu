//! launch grid=2 block=32 words=2
//! fault race counter
//! expect i == 0 ? 64 : 5
// An atomic of a block's scope is none for another block.
__device__ unsigned counter, done;
extern "C" __global__ void test(unsigned* out) {
#ifdef RIGHT
  atomicAdd(&counter, 1u);
#else
  atomicAdd_block(&counter, 1u);
#endif
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&done, 1u) == 1) {
    __threadfence();
    out[0] = atomicAdd(&counter, 0u);
    out[1] = 5;
  }
}
