//! launch grid=4 block=64 words=256
//! expect 1
// A loop of compare-and-swap begins with a plain read, as in CUDA's guide: no race with the swaps of others.
__device__ unsigned counter;
extern "C" __global__ void test(unsigned* out) {
  unsigned old = counter, assumed;
  do {
    assumed = old;
    old = atomicCAS(&counter, assumed, assumed + 1);
  } while (old != assumed);
  out[old] = 1;
}
