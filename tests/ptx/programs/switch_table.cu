//! launch grid=1 block=64 words=64
//! expect i % 9 == 0 ? 11 : i % 9 == 1 ? i * 2 : i % 9 == 2 ? i + 5 : i % 9 == 3 ? 77 : i % 9 == 4 ? i * i : i % 9 == 5 ? 3 : i % 9 == 6 ? i * 3 : i % 9 == 7 ? 1000 : 9
__device__ __noinline__ void store(unsigned* at, unsigned value) { *at = value; }
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  switch (i % 9) {
  case 0:
    store(out + i, 11);
    break;
  case 1:
    store(out + i, i * 2);
    break;
  case 2:
    store(out + i, i + 5);
    break;
  case 3:
    store(out + i, 77);
    break;
  case 4:
    store(out + i, i * i);
    break;
  case 5:
    store(out + i, 3);
    break;
  case 6:
    store(out + i, i * 3);
    break;
  case 7:
    store(out + i, 1000);
    break;
  default:
    store(out + i, 9);
  }
}
