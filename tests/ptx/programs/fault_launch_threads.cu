//! launch grid=1 block=1056 words=1056
//! fault launch block dimension x is 1056 (1 to 1024)
extern "C" __global__ void test(unsigned* out) { out[threadIdx.x] = 1; }
