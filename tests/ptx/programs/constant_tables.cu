//! launch grid=1 block=64 words=64
//! expect (i % 8) * (i % 8) + 3 * (i % 4 + 1) + 2
struct Entry {
  short small;
  double large;
  const unsigned* next;
};
__constant__ unsigned squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__constant__ float thirds[2][2] = {{3.0f, 6.0f}, {9.0f, 12.0f}};
__device__ unsigned behind[2] = {5, 2};
__constant__ Entry entries[2] = {{-3, 2.5, squares}, {3, -2.5, behind + 1}};
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  const Entry& entry = entries[(i & 1) | 1];
  out[i] = squares[i % 8] + (unsigned)thirds[i / 2 % 2][i % 2] + *entry.next +
           (unsigned)(entry.small * entry.large + 7.5);
}
