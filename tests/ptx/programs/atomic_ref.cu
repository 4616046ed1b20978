//! launch grid=2 block=64 words=5
//! expect i == 0 ? 128 : i == 1 ? 127 : i == 2 ? 64 : i == 3 ? 1 : 128
#include <cuda/atomic>
__device__ unsigned counter, largest, flag, twice;
__device__ float real;
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  __shared__ unsigned local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  cuda::atomic_ref<unsigned, cuda::thread_scope_block>(local).fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(largest).fetch_max(i, cuda::memory_order_relaxed);
  cuda::atomic_ref<float, cuda::thread_scope_device>(real).fetch_add(1.0f);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system>(twice).fetch_xor(0u, cuda::memory_order_acq_rel);
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> all(counter);
  if (all.fetch_add(1, cuda::memory_order_acq_rel) != 127) return;
  __syncwarp(__activemask());
  out[0] = all.load(cuda::memory_order_acquire);
  out[1] = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(largest).load();
  out[2] = local;
  unsigned expected = 0;
  out[3] = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(flag).compare_exchange_strong(expected, 1);
  out[4] = (unsigned)cuda::atomic_ref<float, cuda::thread_scope_device>(real).load();
}
