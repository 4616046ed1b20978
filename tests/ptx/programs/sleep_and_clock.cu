//! launch grid=1 block=32 words=32
//! expect 1
extern "C" __global__ void test(unsigned* out) {
  const long long before = clock64();
  const unsigned short_before = clock();
  unsigned rounds = 0;
  do {
    __nanosleep(20);
    ++rounds;
  } while (clock64() - before < 5);
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  out[threadIdx.x] = rounds > 0 && (unsigned)clock() - short_before >= 5 && time > 0;
}
