//! launch grid=1 block=64 words=64
//! arch compute_80 compute_90
//! expect 496 + 31 + 0 + 32 + (i % 4 == 0 ? 8 : 8) + 1
extern "C" __global__ void test(unsigned* out) {
  const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
  unsigned result =
      __reduce_add_sync(all, lane) + __reduce_max_sync(all, lane) + __reduce_min_sync(all, lane);
  result += __popc(__ballot_sync(all, lane < 40));
  result += __popc(__match_any_sync(all, lane % 4));
  int same = 0;
  __match_all_sync(all, 5u, &same);
  result += same != 0;
  if (!__any_sync(all, lane == 7) || __all_sync(all, lane == 7)) result = 0;
  if (__shfl_xor_sync(all, lane, 1) != (lane ^ 1)) result = 0;
  if (__shfl_down_sync(all, lane, 3, 8) != (lane % 8 < 5 ? lane + 3 : lane)) result = 0;
  if (__reduce_or_sync(all, 1u << lane) != all) result = 0;
  out[threadIdx.x] = result;
}
