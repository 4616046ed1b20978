//! launch grid=2 block=32 words=64
//! fault out_of_bounds out[64] (4 bytes past the end of out, i32[64]) by thread (31,0,0) of block (1,0,0), tests/ptx/programs/fault_bounds_global.cu:9
//! expect i + 1
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
#ifdef RIGHT
  out[i] = i + 1;
#else
  out[i + 1] = i + 1;
#endif
}
