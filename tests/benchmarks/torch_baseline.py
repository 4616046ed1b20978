#!/usr/bin/env python3
"""The eager torch version of the comparison that three_way_device measures, on a GPU: offset RMS norm in bf16, forward
and backward; golden in float64, reference in float32, target torch's own rms_norm; every gate of method section 3.

    tests/benchmarks/torch_baseline.py [--seconds 3]
"""

import argparse
import time

import torch

EPS = 1e-6


def formula(x, weight, grad_y, wide, store):
    """Forward and backward of y = x * rstd * (1 + weight) in `wide`, stored once as `store`."""
    x, weight, grad_y = (t.to(wide) for t in (x, weight, grad_y))
    rstd = torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS)
    y = x * rstd * (1 + weight)
    g = grad_y * (1 + weight)
    grad_x = rstd * g - x * rstd**3 * (g * x).mean(-1, keepdim=True)
    grad_weight = (grad_y * x * rstd).sum(0)
    return [t.to(store) for t in (y, grad_x, grad_weight)]


def target(x, weight, grad_y):
    x = x.clone().requires_grad_()
    weight = weight.clone().requires_grad_()
    y = torch.nn.functional.rms_norm(x, x.shape[-1:], 1 + weight, EPS)
    y.backward(grad_y)
    return [y.detach(), x.grad, weight.grad]


def passes(golden, reference, result):
    rounded = golden.to(result.dtype)
    if not torch.equal(torch.isnan(rounded), torch.isnan(result)) or not torch.equal(torch.isinf(rounded), torch.isinf(result)):
        return False
    floor = (rounded.double() - golden).abs().max()
    reference_error = (reference.double() - golden).abs().max()
    target_error = (result.double() - golden).abs().max()
    return bool(target_error <= 2 * reference_error + floor)


def case(rows, cols, generator):
    def draw(*shape):
        return torch.randn(*shape, device="cuda", generator=generator).bfloat16()

    x, weight, grad_y = draw(rows, cols), draw(cols), draw(rows, cols)
    golden = formula(x, weight, grad_y, torch.float64, torch.float64)
    reference = formula(x, weight, grad_y, torch.float32, torch.bfloat16)
    return all(passes(*tensors) for tensors in zip(golden, reference, target(x, weight, grad_y), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    seconds = parser.parse_args().seconds
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    for rows, cols in ((3, 257), (8, 4096), (256, 5120)):
        generator = torch.Generator(device="cuda").manual_seed(1)
        for _ in range(20):
            case(rows, cols, generator)
        torch.cuda.synchronize()
        begin, cases, passed = time.perf_counter(), 0, 0
        while time.perf_counter() - begin < seconds:
            passed += case(rows, cols, generator)
            cases += 1
        print(f"{rows}x{cols}: {cases / (time.perf_counter() - begin):.0f} cases/s ({passed} of {cases} pass)", flush=True)


if __name__ == "__main__":
    main()
