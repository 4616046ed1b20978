//! launch grid=1 block=32 words=32
//! fault trap calls through
typedef unsigned (*Operation)(unsigned);
__device__ Operation table[2];
extern "C" __global__ void test(unsigned* out) { out[threadIdx.x] = table[threadIdx.x % 2](3); }
