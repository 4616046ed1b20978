//! launch grid=2 block=64 words=16
//! expect i % 8 == 0 ? 64 : i % 8 == 1 ? 63 : i % 8 == 2 ? 128 : i % 8 == 3 ? 64 : i % 8 == 4 ? 3 : i % 8 == 5 ? 32 : i % 8 == 6 ? 64 : 9
// The scope as CUDA's atomics of a block and of the system have it; each block has words of its own.
#include <cuda/atomic>
__device__ unsigned sums[2], largest[2], swapped[2], wrapped[2], relaxed[2];
__device__ double doubles[2];
extern "C" __global__ void test(unsigned* out) {
  const unsigned b = blockIdx.x, t = threadIdx.x;
  __shared__ unsigned shared;
  if (t == 0) shared = 0;
  __syncthreads();
  atomicAdd_block(&sums[b], 1u);
  atomicMax_block(&largest[b], t);
  atomicAdd_block(&doubles[b], 0.5);
  if (t == 5) atomicCAS_block(&swapped[b], 0u, 3u);
  atomicInc_block(&wrapped[b], 31u);
  atomicAdd_system(&shared, 2u);
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>(relaxed[b]).fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (t != 0) return;
  out[b * 8] = atomicExch_block(&sums[b], 1u);
  out[b * 8 + 1] = largest[b];
  out[b * 8 + 2] = shared;
  out[b * 8 + 3] = relaxed[b];
  out[b * 8 + 4] = swapped[b];
  out[b * 8 + 5] = (unsigned)doubles[b];
  out[b * 8 + 6] = 64 + wrapped[b];
  out[b * 8 + 7] = atomicXor_system(&swapped[b], 10u) ^ 10u;
}
