"""y = silu(gate) * up over tiles of rows and columns; any strides, row offsets of 64 bits."""

import triton
import triton.language as tl


@triton.jit
def swiglu_forward(gate, gate_row, gate_col, up, up_row, up_col, y, rows, cols, TILE_ROWS: tl.constexpr,
                   TILE_COLS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * TILE_ROWS + tl.arange(0, TILE_ROWS)[:, None]
    c = tl.program_id(1) * TILE_COLS + tl.arange(0, TILE_COLS)[None, :]
    inside = (r < rows) & (c < cols)
    x = tl.load(gate + r * gate_row + c * gate_col, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + r * up_row + c * up_col, mask=inside, other=0.0).to(tl.float32)
    silu = (x / (1.0 + tl.exp(-x))).to(y.dtype.element_ty).to(tl.float32)
    tl.store(y + r * cols + c, (silu * u).to(y.dtype.element_ty), mask=inside)


@triton.jit
def swiglu_backward(grad_y, grad_row, grad_col, gate, gate_row, gate_col, up, up_row, up_col, grad_gate, grad_up, rows,
                    cols, TILE_ROWS: tl.constexpr, TILE_COLS: tl.constexpr):
    r = tl.program_id(0).to(tl.int64) * TILE_ROWS + tl.arange(0, TILE_ROWS)[:, None]
    c = tl.program_id(1) * TILE_COLS + tl.arange(0, TILE_COLS)[None, :]
    inside = (r < rows) & (c < cols)
    g = tl.load(grad_y + r * grad_row + c * grad_col, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(gate + r * gate_row + c * gate_col, mask=inside, other=0.0).to(tl.float32)
    u = tl.load(up + r * up_row + c * up_col, mask=inside, other=0.0).to(tl.float32)
    s = 1.0 / (1.0 + tl.exp(-x))
    silu = (x * s).to(grad_up.dtype.element_ty).to(tl.float32)
    slope = s * (1.0 + x * (1.0 - s))
    at = r * cols + c
    tl.store(grad_gate + at, (g * u * slope).to(grad_gate.dtype.element_ty), mask=inside)
    tl.store(grad_up + at, (g * silu).to(grad_up.dtype.element_ty), mask=inside)
