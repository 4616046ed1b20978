#include <cuda_bf16.h>
#include <cuda_fp16.h>

// y = silu(gate) * up. One block of 128 threads per row. Rows are read and written 16 bytes at a time where
// the addresses allow it; the remaining columns go one by one.

constexpr int BLOCK = 128;

template <typename T> __device__ __forceinline__ T swiglu(T gate, T up) {
  const float g = static_cast<float>(gate);
  const float e = expf(-fabsf(g));
  const float silu = (g >= 0.0f ? g : g * e) / (1.0f + e);
  return static_cast<T>(silu * static_cast<float>(up));
}

__device__ __forceinline__ bool aligned16(const void* p) { return (unsigned long long)p % 16 == 0; }

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    swiglu_forward(const T* __restrict__ gate, const T* __restrict__ up, T* __restrict__ y, int cols) {
  constexpr int VEC = 16 / sizeof(T);
  const size_t offset = (size_t)blockIdx.x * cols;
  const T* gate_row = gate + offset;
  const T* up_row = up + offset;
  T* y_row = y + offset;

  int done = 0;
  if (aligned16(gate) && aligned16(up) && aligned16(y)) {
    const int vectors = cols / VEC;
    for (int i = threadIdx.x; i < vectors; i += BLOCK) {
      const uint4 g = reinterpret_cast<const uint4*>(gate_row)[i];
      const uint4 u = reinterpret_cast<const uint4*>(up_row)[i];
      uint4 r;
      const T* g_item = reinterpret_cast<const T*>(&g);
      const T* u_item = reinterpret_cast<const T*>(&u);
      T* r_item = reinterpret_cast<T*>(&r);
#pragma unroll
      for (int j = 0; j < VEC; ++j) r_item[j] = swiglu(g_item[j], u_item[j]);
      reinterpret_cast<uint4*>(y_row)[i] = r;
    }
    done = vectors * VEC;
  }
  for (int c = done + threadIdx.x; c < cols; c += BLOCK) y_row[c] = swiglu(gate_row[c], up_row[c]);
}
