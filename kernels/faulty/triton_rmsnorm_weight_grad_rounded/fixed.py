"""y = x * rstd * (1 + weight), with rstd = 1 / sqrt(mean(x^2) + eps), computed and saved in float32."""

import triton
import triton.language as tl


@triton.jit
def rmsnorm_forward(x, weight, y, rstd, cols, eps, BLOCK: tl.constexpr):
    """One program a row, which it reads twice, BLOCK columns at a time."""
    row = tl.program_id(0).to(tl.int64)
    x += row * cols
    y += row * cols
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        value = tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32)
        squares += value * value
    scale = 1.0 / tl.sqrt(tl.sum(squares, 0) / cols + eps)
    tl.store(rstd + row, scale)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        value = tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32)
        gain = 1.0 + tl.load(weight + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(y + c, (value * scale * gain).to(y.dtype.element_ty), mask=c < cols)


@triton.jit
def rmsnorm_backward(grad_y, x, weight, rstd, grad_x, cols, BLOCK: tl.constexpr):
    """grad_x = rstd * (g - n * mean(g * n)), with g = grad_y * (1 + weight) and n = x * rstd."""
    row = tl.program_id(0).to(tl.int64)
    grad_y += row * cols
    x += row * cols
    grad_x += row * cols
    scale = tl.load(rstd + row)
    products = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        gain = 1.0 + tl.load(weight + c, mask=c < cols, other=0.0).to(tl.float32)
        g = tl.load(grad_y + c, mask=c < cols, other=0.0).to(tl.float32) * gain
        products += g * (tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32) * scale)
    mean = tl.sum(products, 0) / cols
    for start in range(0, cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        gain = 1.0 + tl.load(weight + c, mask=c < cols, other=0.0).to(tl.float32)
        g = tl.load(grad_y + c, mask=c < cols, other=0.0).to(tl.float32) * gain
        n = tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32) * scale
        tl.store(grad_x + c, (scale * (g - n * mean)).to(grad_x.dtype.element_ty), mask=c < cols)


@triton.jit
def weight_partials(grad_y, x, rstd, partial, rows, cols, TILE_ROWS: tl.constexpr, TILE_COLS: tl.constexpr):
    """What a tile of rows adds to grad_weight = sum over rows of grad_y * x * rstd."""
    r = tl.program_id(0) * TILE_ROWS + tl.arange(0, TILE_ROWS)
    c = tl.program_id(1) * TILE_COLS + tl.arange(0, TILE_COLS)
    inside = (r < rows)[:, None] & (c < cols)[None, :]
    at = r.to(tl.int64)[:, None] * cols + c[None, :]
    g = tl.load(grad_y + at, mask=inside, other=0.0).to(tl.float32)
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(rstd + r, mask=r < rows, other=0.0)
    sums = tl.sum(g * (value * scale[:, None]), 0)
    tl.store(partial + tl.program_id(0).to(tl.int64) * cols + c, sums, mask=c < cols)


@triton.jit
def sum_partials(partial, grad_weight, tiles, cols, TILE_COLS: tl.constexpr):
    c = tl.program_id(0) * TILE_COLS + tl.arange(0, TILE_COLS)
    total = tl.zeros((TILE_COLS,), tl.float32)
    for tile in range(0, tiles):
        total += tl.load(partial + tile.to(tl.int64) * cols + c, mask=c < cols, other=0.0)
    tl.store(grad_weight + c, total.to(grad_weight.dtype.element_ty), mask=c < cols)
