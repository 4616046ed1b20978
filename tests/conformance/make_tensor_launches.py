#!/usr/bin/env python3
"""Writes the launches of tensor_kernels.cu, without their results: record_rows runs them on a GPU and adds these.

    tests/conformance/make_tensor_launches.py --nvrtc /usr/local/cuda/lib64/libnvrtc.so --include /usr/local/cuda/include --out DIR
"""
import argparse
import ctypes
import json
import os
import random
import re

from tensor_rows import ROLES
from values import one

HERE = os.path.dirname(os.path.abspath(__file__))
# kernel: type of a and b, of c, tile of a warp (m, n), of a block, threads, k
KERNELS = {"wmma_f16": ("f16", "f32", 16, 16, 32, 48), "wmma_f16_sums_of_f16": ("f16", "f16", 16, 16, 32, 48),
           "wmma_f16_wide": ("f16", "f32", 8, 32, 32, 32), "wmma_bf16": ("bf16", "f32", 16, 16, 32, 48),
           "wmma_bf16_tall": ("bf16", "f32", 32, 8, 32, 32), "wmma_tf32": ("f32", "f32", 16, 16, 32, 24),
           "wmma_f64": ("f64", "f64", 8, 8, 32, 24), "wmma_s8": ("i8", "i32", 16, 16, 32, 64), "wmma_u8": ("u8", "i32", 32, 8, 32, 64),
           "wmma_f16_shared": ("f16", "f32", 32, 16, 64, 48), "mma_f16": ("f16", "f32", 16, 8, 32, 48), "mma_bf16": ("bf16", "f32", 16, 8, 32, 48),
           "mma_tf32": ("f32", "f32", 16, 8, 32, 24), "mma_f64": ("f64", "f64", 16, 8, 32, 24), "mma_s8": ("i8", "i32", 16, 8, 32, 64),
           "mma_u8": ("u8", "i32", 16, 8, 32, 64), "mma_e4m3": ("f8e4m3", "f32", 16, 8, 32, 64), "mma_e5m2": ("f8e5m2", "f32", 16, 8, 32, 64)}
DIGITS = {"f64": 16, "f32": 8, "f16": 4, "bf16": 4, "f8e4m3": 2, "f8e5m2": 2, "i32": 8, "i8": 2, "u8": 2}


def compiled(library, include, source):
    nvrtc, program, size = ctypes.CDLL(library), ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"tensor_kernels.cu", 0, None, None)
    options = [f"--include-path={include}".encode(), f"--include-path={include}/cccl".encode(), b"--gpu-architecture=compute_90", b"-std=c++17"]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    ask, get = (nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog) if failed else (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    ask(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    get(program, text)
    if failed:
        raise SystemExit(text.value.decode())
    return text.value.decode()


def value(kind, role, rng, special):
    if kind.startswith("f8"):
        return one(kind[2:] + "x4" + (":" + role if role else ""), rng, False) & 255
    if kind[0] in "iu":
        return rng.getrandbits(8)
    return one(kind + (":" + role if role else ""), rng, special)


def case_of(kernel, role):
    kind, sum_kind, tile_m, tile_n, threads, k = KERNELS[kernel]
    m, n = 2 * tile_m, 2 * tile_n if tile_n < 32 else tile_n
    rng = random.Random(f"{kernel} {role}")
    draw = lambda count: "".join(f"{value(kind, role, rng, rng.random() < 0.02):0{DIGITS[kind]}x}" for _ in range(count))
    number = lambda x: {"size": 4, "bits": f"{x:x}"}
    buffers = [{"name": "a", "role": "input", "type": kind, "count": m * k, "bits": draw(m * k)},
               {"name": "b", "role": "input", "type": kind, "count": k * n, "bits": draw(k * n)},
               {"name": "c", "role": "output", "type": sum_kind, "count": m * n}]
    launch = {"entry": kernel, "grid": [n // tile_n, m // tile_m, 1], "block": [threads, 1, 1], "shared": 0,
              "args": [{"buffer": 0}, {"buffer": 1}, {"buffer": 2}, number(m), number(n), number(k)]}
    return {"name": f"{role or 'every kind'} m={m} n={n} k={k}", "buffers": buffers, "launches": [launch]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvrtc", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    ptx = compiled(arguments.nvrtc, arguments.include, open(os.path.join(HERE, "tensor_kernels.cu")).read())
    lines = [line.split("//")[0].strip() for line in ptx.split("\n")]
    lines = [line for line in lines if line and not re.match(r"\.(file|loc)\b", line)]
    head, *entries = "\n".join(lines).split("\n.visible .entry ")
    for kernel in KERNELS:
        entry = next(entry for entry in entries if entry.split("(")[0] == kernel)
        with open(os.path.join(arguments.out, f"tensor_{kernel}.ptx"), "w") as file:
            file.write(f"{head}\n.visible .entry {entry}\n")
        cases = [case_of(kernel, role) for role in (ROLES if KERNELS[kernel][1] != "i32" else ["unit"])]
        with open(os.path.join(arguments.out, f"tensor_{kernel}.json"), "w") as file:
            file.write('{"kernel": "tensor_' + kernel + '", "ptx": "tensor_' + kernel + '.ptx",\n"cases": [\n' +
                       ",\n".join(json.dumps(case) for case in cases) + "\n]}\n")


if __name__ == "__main__":
    main()
