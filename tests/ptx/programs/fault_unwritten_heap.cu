//! launch grid=1 block=32 words=32
//! fault uninitialized holds a value that derives from memory that nobody wrote
//! expect i + 1
extern "C" __global__ void test(unsigned* out) {
  unsigned* volatile mine = (unsigned*)malloc(2 * sizeof(unsigned));
  mine[0] = threadIdx.x;
#ifdef RIGHT
  mine[1] = 1;
#endif
  out[threadIdx.x] = mine[0] + mine[1];
  free(mine);
}
