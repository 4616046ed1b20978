//! launch grid=1 block=32 words=32
//! expect i < 16 ? 15 - i : 7
// A mask may name lanes that have exited; nobody reads from them.
extern "C" __global__ void test(unsigned* out) {
  out[threadIdx.x] = 7;
  if (threadIdx.x >= 16) return;
  out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x, 15);
}
