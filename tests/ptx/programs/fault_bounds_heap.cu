//! launch grid=1 block=32 words=32
//! fault out_of_bounds byte 0 of memory that was freed
//! expect i
extern "C" __global__ void test(unsigned* out) {
  unsigned* volatile mine = (unsigned*)malloc(sizeof(unsigned));
  *mine = threadIdx.x;
#ifdef RIGHT
  out[threadIdx.x] = *mine;
  free(mine);
#else
  free(mine);
  out[threadIdx.x] = *mine;
#endif
}
