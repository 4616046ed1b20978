// y = silu(gate) * up and its gradients, one block a tile of 4 rows by some columns. gate and up may be views
// of one fused projection: any strides; where their columns are contiguous and aligned, 16 bytes at a time.
#include "../common/pack.h"
#include "../common/silu.h"

constexpr int tile_rows = 4;

template <class T> struct Matrix {
  const T* data;
  long long row, col; // strides, in elements
  __device__ const T* at(long long r, long long c) const { return data + r * row + c * col; }
};

template <class T>
__global__ void __launch_bounds__(256)
    swiglu_forward(const T* __restrict__ gate, long long gate_row, long long gate_col,
                   const T* __restrict__ up, long long up_row, long long up_col, T* __restrict__ y, int rows,
                   int cols, int tile_cols) {
  const Matrix<T> gates{gate, gate_row, gate_col}, ups{up, up_row, up_col};
  const long long first_row = static_cast<long long>(blockIdx.x) * tile_rows;
  const long long c = static_cast<long long>(blockIdx.y) * tile_cols;
  const int width = min(tile_cols, static_cast<int>(cols - c));
  for (long long r = first_row; r < min(first_row + tile_rows, static_cast<long long>(rows)); ++r) {
    T* out = y + r * cols + c;
    if (gate_col == 1 && up_col == 1) {
      const auto of = [](long long, float g, float u) { return silu(g) * u; };
      transform(block_team(), width, of, out, gates.at(r, c), ups.at(r, c));
    } else {
      for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[i] = static_cast<T>(silu(widen(*gates.at(r, c + i))) * widen(*ups.at(r, c + i)));
    }
  }
}

template <class T>
__global__ void __launch_bounds__(256)
    swiglu_backward(const T* __restrict__ grad_y, long long grad_row, long long grad_col,
                    const T* __restrict__ gate, long long gate_row, long long gate_col,
                    const T* __restrict__ up, long long up_row, long long up_col, T* __restrict__ grad_gate,
                    T* __restrict__ grad_up, int rows, int cols, int tile_cols) {
  const Matrix<T> grads{grad_y, grad_row, grad_col}, gates{gate, gate_row, gate_col}, ups{up, up_row, up_col};
  const long long first_row = static_cast<long long>(blockIdx.x) * tile_rows;
  const long long c = static_cast<long long>(blockIdx.y) * tile_cols;
  const int width = min(tile_cols, static_cast<int>(cols - c));
  for (long long r = first_row; r < min(first_row + tile_rows, static_cast<long long>(rows)); ++r) {
    const auto of_gate = [](long long, float g, float x, float u) { return g * u * silu_slope(x); };
    const auto of_up = [](long long, float g, float x) { return g * silu(x); };
    T* out_gate = grad_gate + r * cols + c;
    T* out_up = grad_up + r * cols + c;
    if (grad_col == 1 && gate_col == 1 && up_col == 1) {
      transform(block_team(), width, of_gate, out_gate, grads.at(r, c), gates.at(r, c), ups.at(r, c));
      transform(block_team(), width, of_up, out_up, grads.at(r, c), gates.at(r, c));
    } else {
      for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const float g = widen(*grads.at(r, c + i)), x = widen(*gates.at(r, c + i));
        out_gate[i] = static_cast<T>(of_gate(i, g, x, widen(*ups.at(r, c + i))));
        out_up[i] = static_cast<T>(of_up(i, g, x));
      }
    }
  }
}
