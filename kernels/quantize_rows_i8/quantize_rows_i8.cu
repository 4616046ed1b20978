// Symmetric int8 quantisation by rows, one block a row: scale = max|x| / 127, q = x / scale to the nearest
// integer, ties to even.
#include "../common/block_reduce.h"
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(1024)
    quantize_rows(const T* __restrict__ x, long long x_row, signed char* __restrict__ q,
                  float* __restrict__ scales, int cols) {
  const T* in = x + blockIdx.x * x_row;
  signed char* out = q + static_cast<size_t>(blockIdx.x) * cols;
  float largest = 0.0f;
  visit(block_team(), cols, [&](long long, float v) { largest = fmaxf(largest, fabsf(v)); }, in);
  largest = block_reduce(largest, Max());
  const float scale = largest / 127.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  const float divisor = largest > 0.0f ? scale : 1.0f; // a row of zeros
  visit(
      block_team(), cols,
      [&](long long c, float v) {
        out[c] = static_cast<signed char>(fminf(fmaxf(rintf(v / divisor), -127.0f), 127.0f));
      },
      in);
}
