// Rotary position embedding of queries and keys in one launch, one block a token: halves of a head are
// rotated against each other by the angles that the cache holds for the token's position, cosines then sines.
// Packs of 16 bytes where half a head is made of them. q and k may be parts of one fused projection.
#include "../common/pack.h"

// As many elements as Pack holds, or one.
template <class T, int size> struct Items {
  T item[size];
};
template <int size, class T> __device__ __forceinline__ Items<T, size> load_items(const T* from) {
  Items<T, size> items;
  if constexpr (size == 1) {
    items.item[0] = *from;
  } else {
    const Pack<T> pack = load_pack(from);
    memcpy(&items, &pack, sizeof(pack));
  }
  return items;
}
template <int size, class T> __device__ __forceinline__ void store_items(T* to, const Items<T, size>& items) {
  if constexpr (size == 1) {
    *to = items.item[0];
  } else {
    Pack<T> pack;
    memcpy(&pack, &items, sizeof(pack));
    store_pack(to, pack);
  }
}

// All heads of one token. backward: the transposed rotation.
template <bool backward, int size, class T>
__device__ void rotate(const T* __restrict__ in, long long head_stride, T* __restrict__ out,
                       const float* __restrict__ cosine, const float* __restrict__ sine, int heads,
                       int head_dim) {
  const int half = head_dim / 2;
  const int groups = half / size;
  for (int i = threadIdx.x; i < heads * groups; i += blockDim.x) {
    const int head = i / groups, d = i % groups * size;
    const T* from = in + head * head_stride + d;
    T* to = out + static_cast<size_t>(head) * head_dim + d;
    const auto left = load_items<size>(from), right = load_items<size>(from + half);
    Items<T, size> new_left, new_right;
#pragma unroll
    for (int j = 0; j < size; ++j) {
      const float a = widen(left.item[j]), b = widen(right.item[j]);
      const float cos_a = cosine[d + j], sin_a = sine[d + j];
      const float cos_b = cosine[d + j + half], sin_b = sine[d + j + half];
      new_left.item[j] = static_cast<T>(backward ? a * cos_a + b * sin_b : a * cos_a - b * sin_a);
      new_right.item[j] = static_cast<T>(backward ? b * cos_b - a * sin_a : b * cos_b + a * sin_b);
    }
    store_items<size>(to, new_left);
    store_items<size>(to + half, new_right);
  }
}

template <bool backward, class T>
__device__ void rotate_token(const T* __restrict__ in, long long head_stride, T* __restrict__ out,
                             const float* __restrict__ row, int heads, int head_dim) {
  constexpr int size = Pack<T>::size;
  const bool packs = head_dim % (2 * size) == 0 && aligned16(in, out) && head_stride % size == 0;
  if (packs)
    rotate<backward, size>(in, head_stride, out, row, row + head_dim, heads, head_dim);
  else
    rotate<backward, 1>(in, head_stride, out, row, row + head_dim, heads, head_dim);
}

template <bool backward, class T>
__global__ void __launch_bounds__(256)
    rope(const T* __restrict__ q, long long q_token, long long q_head, const T* __restrict__ k,
         long long k_token, long long k_head, const float* __restrict__ cache,
         const int* __restrict__ positions, T* __restrict__ q_out, T* __restrict__ k_out, int q_heads,
         int k_heads, int head_dim) {
  const long long token = blockIdx.x;
  const float* row = cache + static_cast<long long>(positions[token]) * 2 * head_dim;
  rotate_token<backward>(q + token * q_token, q_head, q_out + token * q_heads * head_dim, row, q_heads,
                         head_dim);
  rotate_token<backward>(k + token * k_token, k_head, k_out + token * k_heads * head_dim, row, k_heads,
                         head_dim);
}
