// A prefix sum of each row in one pass with decoupled look-back: a ticket gives a block its tile; the tile
// publishes its sum (state 1), looks back over the tiles before it until one has its prefix, then publishes
// its own prefix (state 2).
__global__ void cumsum(const float* __restrict__ x, float* __restrict__ y, unsigned* ticket, unsigned* state,
                       float* sum, float* prefix, int cols, int tiles) {
  __shared__ int tile;
  __shared__ float of_warp[4], before;
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) tile = atomicAdd(ticket + blockIdx.y, 1u);
  __syncthreads();
  const size_t row = static_cast<size_t>(blockIdx.y) * cols;
  const int c = tile * 128 + t;
  float v = c < cols ? x[row + c] : 0.0f;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane >= offset) v += left;
  }
  if (lane == 31) of_warp[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; ++w) v += of_warp[w];
  if (t == 127) {
    const int at = blockIdx.y * tiles + tile;
    float total = 0.0f;
    if (tile > 0) {
      static_cast<volatile float*>(sum)[at] = v;
      __threadfence();
      atomicExch(state + at, 1u);
      for (int p = 1; p <= tile; ++p) {
        unsigned found;
        do found = atomicAdd(state + at - p, 0u);
        while (found == 0);
        __threadfence();
        total += static_cast<volatile float*>(found == 2 ? prefix : sum)[at - p];
        if (found == 2) break;
      }
    }
    static_cast<volatile float*>(prefix)[at] = total + v;
    __threadfence();
    atomicExch(state + at, 2u);
    before = total;
  }
  __syncthreads();
  if (c < cols) y[row + c] = before + v;
}
