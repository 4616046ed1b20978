"""c = a b in tiles, accumulated in float32."""

import triton
import triton.language as tl


@triton.jit
def gemm(a, b, c, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    i = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    j = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for start in range(0, k, TILE_K):
        across = start + tl.arange(0, TILE_K)[None, :]
        down = start + tl.arange(0, TILE_K)[:, None]
        left = tl.load(a + i * k + across, mask=(i < m) & (across < k), other=0.0)
        right = tl.load(b + down * n + j, mask=(down < k) & (j < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    tl.store(c + i * n + j, total.to(c.dtype.element_ty), mask=(i < m) & (j < n))
