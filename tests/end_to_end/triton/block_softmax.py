import triton
import triton.language as tl


@triton.jit
def block_softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    c = tl.arange(0, BLOCK)
    value = tl.load(x + row + c, mask=c < cols, other=-float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row + c, power / tl.sum(power, 0), mask=c < cols)
