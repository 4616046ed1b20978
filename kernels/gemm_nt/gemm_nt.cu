// c = a b^T, a and b with any strides.
#include "../common/gemm_tile.h"

template <class T>
__global__ void __launch_bounds__(gemm_threads)
    gemm_nt(const T* __restrict__ a, long long a_row, long long a_col, const T* __restrict__ b,
            long long b_row, long long b_col, T* __restrict__ c, int m, int n, int k) {
  gemm_tile<true>(Operand<T>{a, a_row, a_col}, Operand<T>{b, b_col, b_row}, c, m, n, k);
}
