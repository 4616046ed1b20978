//! launch grid=1 block=32 words=32
//! fault barrier which do not come
//! expect i < 16 ? 15 - i : 0
// The other half of the warp waits elsewhere.
extern "C" __global__ void test(unsigned* out) {
  unsigned value = 0;
#ifdef RIGHT
  if (threadIdx.x < 16) value = __shfl_xor_sync(0x0000ffffu, threadIdx.x, 15);
  __syncthreads();
#else
  if (threadIdx.x < 16)
    value = __shfl_xor_sync(0xffffffffu, threadIdx.x, 15);
  else
    asm volatile("bar.sync 0;");
#endif
  out[threadIdx.x] = value;
}
