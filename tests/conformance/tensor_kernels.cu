// Products of matrices by tensor cores, c = a b, for the recordings: by nvcuda::wmma with a scaling of single
// elements of a fragment, and by mma.sync with fragments filled as PTX documents them.
// make_tensor_launches.py makes the launches.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>

using namespace nvcuda;

template <class A, class B> constexpr bool same = false;
template <class A> constexpr bool same<A, A> = true;

// One warp a tile of M x N; `scale` touches fragments element by element.
template <int M, int N, int K, class Fragment, class T, class Sum, class LayoutA, class LayoutB>
__device__ void wmma_gemm(const T* a, const T* b, Sum* c, int m, int n, int k, Sum scale) {
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  constexpr bool a_rows = same<LayoutA, wmma::row_major>, b_rows = same<LayoutB, wmma::row_major>;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::fill_fragment(sum, static_cast<Sum>(0));
  for (int first = 0; first < k; first += K) {
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LayoutA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> right;
    wmma::load_matrix_sync(left, a_rows ? a + row * k + first : a + first * m + row, a_rows ? k : m);
    wmma::load_matrix_sync(right, b_rows ? b + first * n + column : b + column * k + first, b_rows ? n : k);
    if constexpr (same<T, float>) {
      for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
      for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
    }
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] * scale;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

#define WMMA_KERNEL(name, M, N, K, F, T, S, A, B)                                                            \
  extern "C" __global__ void name(const T* a, const T* b, S* c, int m, int n, int k) {                       \
    wmma_gemm<M, N, K, F, T, S, wmma::A, wmma::B>(a, b, c, m, n, k, static_cast<S>(2));                      \
  }
WMMA_KERNEL(wmma_f16, 16, 16, 16, __half, __half, float, row_major, row_major)
WMMA_KERNEL(wmma_f16_sums_of_f16, 16, 16, 16, __half, __half, __half, row_major, col_major)
WMMA_KERNEL(wmma_f16_wide, 8, 32, 16, __half, __half, float, col_major, row_major)
WMMA_KERNEL(wmma_bf16, 16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major)
WMMA_KERNEL(wmma_bf16_tall, 32, 8, 16, __nv_bfloat16, __nv_bfloat16, float, col_major, col_major)
WMMA_KERNEL(wmma_tf32, 16, 16, 8, wmma::precision::tf32, float, float, row_major, row_major)
WMMA_KERNEL(wmma_f64, 8, 8, 4, double, double, double, row_major, col_major)
WMMA_KERNEL(wmma_s8, 16, 16, 16, signed char, signed char, int, row_major, col_major)
WMMA_KERNEL(wmma_u8, 32, 8, 16, unsigned char, unsigned char, int, row_major, col_major)

// Through shared memory with a padded leading dimension, two warps, f16.
extern "C" __global__ void wmma_f16_shared(const __half* a, const __half* b, float* c, int m, int n, int k) {
  constexpr int tile = 32, pitch = 16 + 8;
  __shared__ __half left[tile * pitch], right[tile * pitch];
  __shared__ float result[tile * 20];
  const int warp = threadIdx.x / 32, row = blockIdx.y * tile, column = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int first = 0; first < k; first += 16) {
    for (int i = threadIdx.x; i < tile * 16; i += blockDim.x)
      left[i / 16 * pitch + i % 16] = a[(row + i / 16) * k + first + i % 16];
    for (int i = threadIdx.x; i < 16 * 16; i += blockDim.x)
      right[i / 16 * pitch + i % 16] = b[(first + i / 16) * n + column + i % 16];
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;
    wmma::load_matrix_sync(x, left + warp * 16 * pitch, pitch);
    wmma::load_matrix_sync(y, right, pitch);
    wmma::mma_sync(sum, x, y, sum);
    __syncthreads();
  }
  wmma::store_matrix_sync(result + warp * 16 * 20, sum, 20, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < tile * 16; i += blockDim.x)
    c[(row + i / 16) * n + column + i % 16] = result[i / 16 * 20 + i % 16];
}

// mma.sync, 16 x 8 a warp, a by rows and b by columns: E elements of a register along k.
template <int K, int E, class T, class Sum, class Word, class Multiply>
__device__ void mma_gemm(const T* a, const T* b, Sum* c, int n, int k, Multiply multiply) {
  const int row = blockIdx.y * 16, column = blockIdx.x * 8, group = threadIdx.x / 4, member = threadIdx.x % 4;
  Sum sum[4] = {};
  for (int first = 0; first < k; first += K) {
    Word x[K / (2 * E)], y[K / (4 * E)];
    for (int r = 0; r < K / (2 * E); ++r)
      x[r] = *reinterpret_cast<const Word*>(a + (row + group + 8 * (r % 2)) * k + first + 4 * E * (r / 2) +
                                            member * E);
    for (int r = 0; r < K / (4 * E); ++r)
      y[r] = *reinterpret_cast<const Word*>(b + (column + group) * k + first + 4 * E * r + member * E);
    multiply(sum, x, y);
  }
  for (int r = 0; r < 4; ++r) c[(row + group + 8 * (r / 2)) * n + column + 2 * member + r % 2] = sum[r];
}

#define MMA_KERNEL(name, K, E, T, S, W, instruction, cs, cw)                                                 \
  extern "C" __global__ void name(const T* a, const T* b, S* c, int m, int n, int k) {                       \
    mma_gemm<K, E, T, S, W>(a, b, c, n, k, [](S(&d)[4], const W(&x)[4], const W(&y)[2]) {                    \
      asm("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
          : "+" cs(d[0]), "+" cs(d[1]), "+" cs(d[2]), "+" cs(d[3])                                           \
          : cw(x[0]), cw(x[1]), cw(x[2]), cw(x[3]), cw(y[0]), cw(y[1]));                                     \
    });                                                                                                      \
  }
MMA_KERNEL(mma_f16, 16, 2, __half, float, unsigned, "m16n8k16.row.col.f32.f16.f16.f32", "f", "r")
MMA_KERNEL(mma_bf16, 16, 2, __nv_bfloat16, float, unsigned, "m16n8k16.row.col.f32.bf16.bf16.f32", "f", "r")
MMA_KERNEL(mma_tf32, 8, 1, float, float, unsigned, "m16n8k8.row.col.f32.tf32.tf32.f32", "f", "r")
MMA_KERNEL(mma_f64, 8, 1, double, double, double, "m16n8k8.row.col.f64.f64.f64.f64", "d", "d")
MMA_KERNEL(mma_s8, 32, 4, signed char, int, unsigned, "m16n8k32.row.col.s32.s8.s8.s32", "r", "r")
MMA_KERNEL(mma_u8, 32, 4, unsigned char, int, unsigned, "m16n8k32.row.col.satfinite.s32.u8.u8.s32", "r", "r")
MMA_KERNEL(mma_e4m3, 32, 4, __nv_fp8_e4m3, float, unsigned, "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f", "r")
MMA_KERNEL(mma_e5m2, 32, 4, __nv_fp8_e5m2, float, unsigned, "m16n8k32.row.col.f32.e5m2.e5m2.f32", "f", "r")
