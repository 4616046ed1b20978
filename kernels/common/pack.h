// Rows read and written 16 bytes at a time where their addresses allow it, the remaining elements one by one.
#pragma once

#include "number.h"

template <class T> struct Pack {
  static constexpr int size = 16 / sizeof(T);
  T item[size];
};

template <class T> __device__ __forceinline__ Pack<T> load_pack(const T* from) {
  const uint4 bits = *reinterpret_cast<const uint4*>(from);
  Pack<T> pack;
  memcpy(&pack, &bits, sizeof(bits));
  return pack;
}

template <class T> __device__ __forceinline__ void store_pack(T* to, const Pack<T>& pack) {
  uint4 bits;
  memcpy(&bits, &pack, sizeof(bits));
  *reinterpret_cast<uint4*>(to) = bits;
}

template <class... T> __device__ __forceinline__ bool aligned16(const T*... pointers) {
  return ((reinterpret_cast<unsigned long long>(pointers) | ...) & 15) == 0;
}

// Some threads that share the elements of a row: this one is number `index` of `count`.
struct Team {
  long long index, count;
};
__device__ __forceinline__ Team block_team() { return {threadIdx.x, blockDim.x}; }
__device__ __forceinline__ Team grid_team() {
  return {static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x,
          static_cast<long long>(gridDim.x) * blockDim.x};
}

// f(i, in[i]...) for the i of this thread, all widened; every element is some thread's.
template <class F, class... Packs>
__device__ __forceinline__ void visit_items(F& f, long long first, const Packs&... packs) {
  constexpr int sizes[] = {Packs::size...};
#pragma unroll
  for (int j = 0; j < sizes[0]; ++j) f(first + j, widen(packs.item[j])...);
}
template <class F, class T, class... In>
__device__ __forceinline__ void visit(Team team, long long n, F f, const T* first, const In*... others) {
  constexpr int size = Pack<T>::size;
  long long done = 0;
  if (aligned16(first, others...)) {
    done = n - n % size;
    for (long long i = team.index * size; i < done; i += team.count * size)
      visit_items(f, i, load_pack(first + i), load_pack(others + i)...);
  }
  for (long long i = done + team.index; i < n; i += team.count) f(i, widen(first[i]), widen(others[i])...);
}

// out[i] = f(i, in[i]...), rounded once.
template <class T, class F, class... Packs>
__device__ __forceinline__ Pack<T> transform_items(F& f, long long first, const Packs&... packs) {
  Pack<T> result;
#pragma unroll
  for (int j = 0; j < Pack<T>::size; ++j)
    result.item[j] = static_cast<T>(f(first + j, widen(packs.item[j])...));
  return result;
}
template <class F, class T, class... In>
__device__ __forceinline__ void transform(Team team, long long n, F f, T* out, const In*... in) {
  constexpr int size = Pack<T>::size;
  long long done = 0;
  if (aligned16(out, in...)) {
    done = n - n % size;
    for (long long i = team.index * size; i < done; i += team.count * size)
      store_pack(out + i, transform_items<T>(f, i, load_pack(in + i)...));
  }
  for (long long i = done + team.index; i < n; i += team.count)
    out[i] = static_cast<T>(f(i, widen(in[i])...));
}
