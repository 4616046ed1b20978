// y[r] = table[index[r]], one block a row, 16 bytes at a time where both rows allow it.
#include "../common/pack.h"

template <class T>
__global__ void __launch_bounds__(256)
    gather_rows(const T* __restrict__ table, long long table_row, const int* __restrict__ index,
                T* __restrict__ y, int cols) {
  const T* in = table + static_cast<long long>(index[blockIdx.x]) * table_row;
  T* out = y + static_cast<size_t>(blockIdx.x) * cols;
  constexpr int size = Pack<T>::size;
  int done = 0;
  if (aligned16(in, out)) {
    done = cols - cols % size;
    for (int c = threadIdx.x * size; c < done; c += blockDim.x * size) store_pack(out + c, load_pack(in + c));
  }
  for (int c = done + threadIdx.x; c < cols; c += blockDim.x) out[c] = in[c];
}
