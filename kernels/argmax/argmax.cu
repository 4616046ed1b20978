// The first place of the largest value of each row, one block a row; a NaN is larger than anything.
#include "../common/block_reduce.h"
#include "../common/pack.h"

struct Best {
  float value;
  int place; // -1: none
};
__device__ __forceinline__ Best shuffled(Best best, int offset) {
  return {shuffled(best.value, offset), __shfl_xor_sync(all_lanes, best.place, offset)};
}

struct Better {
  static __device__ Best identity() { return {minus_infinity(), -1}; }
  __device__ Best operator()(Best a, Best b) const {
    if (a.place < 0 || b.place < 0) return a.place < 0 ? b : a;
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan ? a : b;
    if (!a_nan && a.value != b.value) return a.value > b.value ? a : b;
    return a.place < b.place ? a : b;
  }
};

template <class T>
__global__ void __launch_bounds__(1024)
    argmax(const T* __restrict__ x, long long x_row, int* __restrict__ y, int cols) {
  Best best = Better::identity();
  visit(
      block_team(), cols, [&](long long c, float v) { best = Better()(best, {v, static_cast<int>(c)}); },
      x + blockIdx.x * x_row);
  best = block_reduce(best, Better());
  if (threadIdx.x == 0) y[blockIdx.x] = best.place;
}
