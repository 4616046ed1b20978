//! launch grid=1 block=32 words=32
//! expect 3 * i
// Bytes that nobody wrote travel with the struct around them, and decide nothing.
struct Padded {
  unsigned char small;
  double large;
};
extern "C" __global__ void test(unsigned* out) {
  __shared__ Padded there[32], back[32];
  there[threadIdx.x].small = (unsigned char)threadIdx.x;
  there[threadIdx.x].large = 2.0 * threadIdx.x;
  __syncthreads();
  for (unsigned k = 0; k < sizeof(Padded) / 8; ++k)
    ((unsigned long long*)(back + threadIdx.x))[k] = ((unsigned long long*)(there + 31 - threadIdx.x))[k];
  __syncthreads();
  const Padded& mine = back[31 - threadIdx.x];
  out[threadIdx.x] = mine.small + (unsigned)mine.large;
}
