//! launch grid=1 block=32 words=32
//! fault out_of_bounds 4 bytes past the end of table, 128 bytes
//! expect 2 * i
__constant__ unsigned other[4] = {9, 9, 9, 9};
__constant__ unsigned table[32] = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                                   32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
extern "C" __global__ void test(unsigned* out) {
#ifdef RIGHT
  out[threadIdx.x] = table[threadIdx.x] + other[threadIdx.x % 4] - 9;
#else
  out[threadIdx.x] = table[threadIdx.x + 1] + other[threadIdx.x % 4] - 9;
#endif
}
