// Running sums along each row, in tiles of 1,024 columns by three kernels: the sum of each tile; the running
// sums of those, one warp a row; then the running sums within each tile, raised by what stands before it.
#include "../common/number.h"

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int threads = 256, items = 4, tile = threads * items;

// The sum over this lane and those before it.
__device__ __forceinline__ float warp_scan(float value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float left = __shfl_up_sync(all_lanes, value, distance);
    if (lane >= distance) value += left;
  }
  return value;
}

// Of one value a thread: the sum over the threads before this one; total: over all.
__device__ float block_scan_before(float value, float& total) {
  __shared__ float warp_sums[threads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float through = warp_scan(value);
  if (lane == 31) warp_sums[warp] = through;
  __syncthreads();
  float before = 0.0f;
  total = 0.0f;
  for (int w = 0; w < threads / 32; ++w) {
    if (w == warp) before = total;
    total += warp_sums[w];
  }
  const float left = __shfl_up_sync(all_lanes, through, 1);
  return lane == 0 ? before : before + left;
}

template <class T>
__device__ __forceinline__ void load_items(float (&item)[items], const T* x, long long first, int cols) {
#pragma unroll
  for (int j = 0; j < items; ++j) item[j] = first + j < cols ? widen(x[first + j]) : 0.0f;
}

template <class T>
__global__ void __launch_bounds__(threads)
    tile_sums(const T* __restrict__ x, long long x_row, float* __restrict__ sums, int cols, int tiles) {
  float item[items], total;
  load_items(item, x + blockIdx.y * x_row, static_cast<long long>(blockIdx.x) * tile + threadIdx.x * items,
             cols);
  block_scan_before(item[0] + item[1] + item[2] + item[3], total);
  if (threadIdx.x == 0) sums[static_cast<size_t>(blockIdx.y) * tiles + blockIdx.x] = total;
}

// before[row, t] = the sum of the tiles before t.
__global__ void __launch_bounds__(32)
    sums_before(const float* __restrict__ sums, float* __restrict__ before, int tiles) {
  const size_t row = static_cast<size_t>(blockIdx.x) * tiles;
  float carry = 0.0f;
  for (int first = 0; first < tiles; first += 32) {
    const int t = first + threadIdx.x;
    const float through = warp_scan(t < tiles ? sums[row + t] : 0.0f);
    const float left = __shfl_up_sync(all_lanes, through, 1);
    if (t < tiles) before[row + t] = threadIdx.x == 0 ? carry : carry + left;
    carry += __shfl_sync(all_lanes, through, 31);
  }
}

template <class T>
__global__ void __launch_bounds__(threads)
    cumsum(const T* __restrict__ x, long long x_row, const float* __restrict__ before, T* __restrict__ y,
           int cols, int tiles) {
  const long long first = static_cast<long long>(blockIdx.x) * tile + threadIdx.x * items;
  float item[items], total;
  load_items(item, x + blockIdx.y * x_row, first, cols);
#pragma unroll
  for (int j = 1; j < items; ++j) item[j] += item[j - 1];
  const float left = before[static_cast<size_t>(blockIdx.y) * tiles + blockIdx.x] +
                     block_scan_before(item[items - 1], total);
  T* out = y + static_cast<size_t>(blockIdx.y) * cols;
#pragma unroll
  for (int j = 0; j < items; ++j)
    if (first + j < cols) out[first + j] = static_cast<T>(left + item[j]);
}
