//! launch grid=1 block=64 words=4
//! arch compute_90
//! expect i == 0 ? 64 : i == 1 ? 2016 : i == 2 ? 1 : 5
__device__ ulonglong2 pair, other;
extern "C" __global__ void test(unsigned* out) {
  // counts in the low half and sums in the high one, both in one step
  ulonglong2 seen = {0, 0};
  for (;;) {
    ulonglong2 next = {seen.x + 1, seen.y + threadIdx.x};
    ulonglong2 now;
    asm volatile("{ .reg .b128 c, n, r; mov.b128 c, {%2, %3}; mov.b128 n, {%4, %5};\n"
                 "atom.global.cas.b128 r, [%6], c, n; mov.b128 {%0, %1}, r; }"
                 : "=l"(now.x), "=l"(now.y)
                 : "l"(seen.x), "l"(seen.y), "l"(next.x), "l"(next.y), "l"(__cvta_generic_to_global(&pair))
                 : "memory");
    if (now.x == seen.x && now.y == seen.y) break;
    seen = now;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  ulonglong2 last;
  asm volatile("{ .reg .b128 n, r; mov.b128 n, {%2, %3};\n"
               "atom.global.exch.b128 r, [%4], n; mov.b128 {%0, %1}, r; }"
               : "=l"(last.x), "=l"(last.y)
               : "l"(5ull), "l"(1ull), "l"(__cvta_generic_to_global(&pair))
               : "memory");
  out[0] = (unsigned)last.x;
  out[1] = (unsigned)last.y;
  asm volatile("{ .reg .b128 n, r; mov.b128 n, {%2, %3};\n"
               "atom.global.exch.b128 r, [%4], n; mov.b128 {%0, %1}, r; }"
               : "=l"(last.x), "=l"(last.y)
               : "l"(0ull), "l"(0ull), "l"(__cvta_generic_to_global(&pair))
               : "memory");
  out[2] = (unsigned)last.y;
  out[3] = (unsigned)last.x;
}
