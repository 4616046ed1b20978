//! launch grid=1 block=64 words=64
//! expect i * 10 + 45 + i % 10
struct Row {
  unsigned values[10];
  double scale;
};
__device__ __noinline__ Row make(unsigned base) {
  Row row;
  for (unsigned k = 0; k < 10; ++k) row.values[k] = base + k;
  row.scale = 0.5;
  return row;
}
__device__ __noinline__ unsigned total(Row row, unsigned pick) {
  double sum = 0;
  for (unsigned k = 0; k < 10; ++k) sum += row.values[k] * row.scale;
  return (unsigned)(2 * sum) + row.values[pick] - row.values[0];
}
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  out[i] = total(make(i), i % 10);
}
