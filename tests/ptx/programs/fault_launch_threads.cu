//! launch grid=1 block=1056 words=1056
//! fault launch a block
extern "C" __global__ void test(unsigned* out) { out[threadIdx.x] = 1; }
