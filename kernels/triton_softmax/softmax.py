"""Softmax over rows of at most BLOCK columns, one program a row."""

import triton
import triton.language as tl


@triton.jit
def softmax_forward(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row + c, (power / tl.sum(power, 0)).to(y.dtype.element_ty), mask=c < cols)


@triton.jit
def softmax_backward(grad_y, y, grad_x, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    c = tl.arange(0, BLOCK)
    g = tl.load(grad_y + row + c, mask=c < cols, other=0.0).to(tl.float32)
    p = tl.load(y + row + c, mask=c < cols, other=0.0).to(tl.float32)
    tl.store(grad_x + row + c, (p * (g - tl.sum(g * p, 0))).to(grad_x.dtype.element_ty), mask=c < cols)
