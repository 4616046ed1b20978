//! launch grid=1 block=32 words=32
//! fault uninitialized holds a value that derives from memory that nobody wrote
//! expect i < 16 ? 15 - i : 7
// What a shuffle reads from a lane that has exited is nothing.
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = 7;
  if (threadIdx.x >= 16) return;
#ifdef RIGHT
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x, 15);
#else
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x, 16);
#endif
}
