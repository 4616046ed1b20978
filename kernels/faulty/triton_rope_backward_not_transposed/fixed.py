"""Rotary position embedding with the halves of a head rotated; the cache holds cos, then sin, in float32."""

import triton
import triton.language as tl


@triton.jit
def rotate(x, out, cache, head_dim, HALF: tl.constexpr, BACKWARD: tl.constexpr):
    h = head_dim // 2
    i = tl.arange(0, HALF)
    inside = i < h
    low = tl.load(x + i, mask=inside, other=0.0).to(tl.float32)
    high = tl.load(x + h + i, mask=inside, other=0.0).to(tl.float32)
    cos_low = tl.load(cache + i, mask=inside, other=0.0)
    cos_high = tl.load(cache + h + i, mask=inside, other=0.0)
    sin_low = tl.load(cache + head_dim + i, mask=inside, other=0.0)
    sin_high = tl.load(cache + head_dim + h + i, mask=inside, other=0.0)
    if BACKWARD:  # the transposed rotation
        first = low * cos_low + high * sin_high
        second = high * cos_high - low * sin_low
    else:
        first = low * cos_low - high * sin_low
        second = high * cos_high + low * sin_high
    tl.store(out + i, first.to(out.dtype.element_ty), mask=inside)
    tl.store(out + h + i, second.to(out.dtype.element_ty), mask=inside)


@triton.jit
def rope(q, q_token, q_head, k, k_token, k_head, cache, positions, q_out, k_out, q_heads, k_heads, head_dim,
         HALF: tl.constexpr, BACKWARD: tl.constexpr):
    """One program a token and a head: those of q first, then those of k."""
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    row = cache + tl.load(positions + token).to(tl.int64) * (2 * head_dim)
    if head < q_heads:
        rotate(q + token * q_token + head * q_head, q_out + (token * q_heads + head) * head_dim, row, head_dim, HALF,
               BACKWARD)
    else:
        head -= q_heads
        rotate(k + token * k_token + head * k_head, k_out + (token * k_heads + head) * head_dim, row, head_dim, HALF,
               BACKWARD)
