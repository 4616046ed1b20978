#!/usr/bin/env python3
"""Holds Assay's references against PyTorch eager on the CPU, in the same types.

The simple operators must give the same bits. Of the others the largest difference is told, in representable values
of the output's type beside a bound: PyTorch's sums take another order, and its vector functions other last bits.
Exit 77 (skipped) where there is no PyTorch.
"""

import collections
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("skipped: no PyTorch (Debian's package python3-torch)")
    sys.exit(77)

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
         "i32": torch.int32, "i8": torch.int8, "u8": torch.uint8, "f8e4m3": torch.uint8}


def up(x):
    """To the type that the references compute in."""
    return x if x.dtype == torch.float64 else x.float()


def rms(t, p, offset):
    x = up(t["x"])
    rstd = torch.rsqrt((x * x).mean(1) + p[0])
    weight = up(t["weight"]) + 1 if offset else up(t["weight"])
    return {"y": (x * rstd[:, None] * weight).to(t["x"].dtype), "rstd": rstd.float()}


def layernorm(t, p):
    x = up(t["x"])
    mean, variance = x.mean(1), x.var(1, unbiased=False)
    y = F.layer_norm(t["x"], t["x"].shape[1:], t["weight"], t["bias"], p[0])
    return {"y": y, "mean": mean.float(), "rstd": torch.rsqrt(variance + p[0]).float()}


def rope(t, p):
    def rotate(x):
        d = x.shape[-1]
        row = t["cache"][t["positions"].long()].to(up(x).dtype)[:, None, :]
        cosine, sine, half, v = row[..., :d], row[..., d:], d // 2, up(x)
        left, right = v[..., :half], v[..., half:]
        return torch.cat([left * cosine[..., :half] - right * sine[..., :half],
                          right * cosine[..., half:] + left * sine[..., half:]], -1).to(x.dtype)
    return {"q_out": rotate(t["q"]), "k_out": rotate(t["k"])}


def masked_softmax(t, p):
    keep = t["mask"] != 0
    y = torch.softmax(t["x"].masked_fill(~keep, -math.inf), 1)
    return {"y": torch.where(keep, y, torch.zeros_like(y))}


def attention(t, p):
    scores = torch.matmul(up(t["q"]), up(t["k"]).transpose(-1, -2)) * (1 / math.sqrt(t["q"].shape[-1]))
    probabilities = torch.softmax(scores, -1).to(t["q"].dtype)
    return {"out": torch.matmul(up(probabilities), up(t["v"])).to(t["q"].dtype)}


def quantize(t, p):
    x = up(t["x"])
    largest = x.abs().amax(1)
    q = torch.round(x * 127 / torch.where(largest == 0, torch.ones_like(largest), largest)[:, None])
    return {"q": q.to(torch.int8), "scale": (largest / 127).float()}


def dequantize(t, p):
    arithmetic = torch.float64 if p["dtype"] == torch.float64 else torch.float32
    return {"y": (t["q"].to(arithmetic) * t["scale"].to(arithmetic)[:, None]).to(p["dtype"])}


def scatter(t, p):
    y = torch.zeros((p["table_rows"], t["x"].shape[1]), dtype=up(t["x"]).dtype)
    return {"y": y.index_add(0, t["index"].long(), up(t["x"])).to(t["x"].dtype)}


def cross_entropy(t, p):
    return {"loss": F.cross_entropy(up(t["logits"]), t["target"].long(), reduction="none",
                                    ignore_index=-100).float()}


def of(output, f):
    return lambda t, p: {output: f(t)}


OPERATORS = {
    "relu": of("y", lambda t: torch.relu(t["x"])), "silu": of("y", lambda t: F.silu(t["x"])),
    "gelu_erf": of("y", lambda t: F.gelu(t["x"])),
    "gelu_tanh": of("y", lambda t: F.gelu(t["x"], approximate="tanh")),
    "sigmoid": of("y", lambda t: torch.sigmoid(t["x"])), "tanh": of("y", lambda t: torch.tanh(t["x"])),
    "add": of("y", lambda t: t["a"] + t["b"]), "swiglu": of("y", lambda t: F.silu(t["gate"]) * t["up"]),
    "sum": of("y", lambda t: t["x"].sum(1)), "mean": of("y", lambda t: t["x"].mean(1)),
    "max": of("y", lambda t: t["x"].amax(1)), "logsumexp": of("y", lambda t: torch.logsumexp(t["x"], 1)),
    "variance": of("y", lambda t: t["x"].var(1, unbiased=False)),
    "argmax": of("y", lambda t: t["x"].argmax(1).int()), "cumsum": of("y", lambda t: t["x"].cumsum(1)),
    "softmax": of("y", lambda t: torch.softmax(t["x"], 1)),
    "log_softmax": of("y", lambda t: torch.log_softmax(t["x"], 1)), "masked_softmax": masked_softmax,
    "cross_entropy": cross_entropy, "rmsnorm": lambda t, p: rms(t, p, False),
    "offset_rmsnorm": lambda t, p: rms(t, p, True), "layernorm": layernorm,
    "l2_normalize": lambda t, p: {"y": F.normalize(t["x"], dim=1, eps=p[0])}, "rope": rope,
    "gemm": of("c", lambda t: t["a"] @ t["b"]), "gemm_nt": of("c", lambda t: t["a"] @ t["b"].t()),
    "attention": attention, "gather_rows": of("y", lambda t: t["table"][t["index"].long()]),
    "scatter_add_rows": scatter, "transpose": of("y", lambda t: t["x"].t().contiguous()),
    "causal_conv1d": of("y", lambda t: F.conv1d(F.pad(t["x"], (t["weight"].shape[1] - 1, 0)),
                                                t["weight"][:, None, :], t["bias"], groups=t["x"].shape[1])),
    "quantize_rows_i8": quantize,
    "dequantize_rows_i8": dequantize,
}
# (op, tensor): the same bits. A difference anywhere else is only told, and bounded where it is rounded to a narrow type.
SAME_BITS = {("relu", "y"), ("relu", "grad_x"), ("add", "y"), ("max", "y"), ("argmax", "y"), ("gather_rows", "y"),
             ("transpose", "y"), ("rope", "q_out"), ("rope", "k_out"), ("rope", "grad_q"), ("rope", "grad_k"), ("dequantize_rows_i8", "y"),
             ("quantize_rows_i8", "q"), ("quantize_rows_i8", "scale")}


def ordered(x):
    """The representable values in their order, as integers; both zeros are 0."""
    if not x.is_floating_point():
        return x.long()
    size = {8: torch.int64, 4: torch.int32, 2: torch.int16}[x.element_size()]
    bits = x.contiguous().view(size).long()
    lowest = -(1 << (8 * x.element_size() - 1))
    return torch.where(bits < 0, lowest - bits, bits)


class Problem:
    def __init__(self, op, direction, dtype, dims, params):
        self.op, self.direction, self.dtype = op, direction, dtype
        self.tensors, self.roles = {}, {}
        self.params = Params(params)
        self.params.update(table_rows=dims[1] if len(dims) > 1 else 0, dtype=TYPES[dtype])

    def given(self):
        return {name: tensor for name, tensor in self.tensors.items() if self.roles[name] == "input"}

    def by_torch(self):
        inputs = self.given()
        if self.direction == "forward":
            return OPERATORS[self.op](inputs, self.params)
        wanted = {name: "grad_" + name for name in inputs if "grad_" + name in self.tensors}
        leaves = {name: x.clone().requires_grad_(name in wanted) for name, x in inputs.items()}
        outputs = OPERATORS[self.op](leaves, self.params)
        pairs = [(outputs[name], self.tensors["grad_" + name]) for name in outputs if "grad_" + name in self.tensors]
        torch.autograd.backward([y for y, _ in pairs], [g.to(y.dtype) for y, g in pairs])
        return {gradient: leaves[name].grad for name, gradient in wanted.items()}


class Params(dict):
    def __init__(self, values):
        super().__init__(enumerate(values))


def load(folder):
    problems = collections.OrderedDict()
    for line in (folder / "tensors.tsv").read_text().splitlines():
        number, op, direction, dtype, dims, params, name, role, kind, shape, file = line.split("\t")
        if number not in problems:
            problems[number] = Problem(op, direction, dtype, [int(d) for d in dims.split(",")],
                                       [float(p) for p in params.split(",") if p])
        data = bytearray((folder / file).read_bytes())
        tensor = torch.frombuffer(data, dtype=TYPES[kind]).reshape([int(s) for s in shape.split(",")])
        problems[number].tensors[name], problems[number].roles[name] = tensor, role
    return problems.values()


def main():
    torch.set_num_threads(1)
    wrong, compared, left_out = [], 0, []
    print(f"PyTorch {torch.__version__} on the CPU\n\n{'operator':20} {'tensor':14} {'type':5} {'same bits':>12} "
          f"{'furthest, in representable values':>34}")
    with tempfile.TemporaryDirectory(prefix="assay-torch.") as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        for problem in load(pathlib.Path(folder)):
            if problem.op not in OPERATORS:
                if problem.direction == "forward" and problem.dtype == "f32":
                    left_out.append(f"{problem.op}: this PyTorch lacks it")
                continue
            try:
                results = problem.by_torch()
            except RuntimeError as error:
                reason = str(error).splitlines()[0]
                left_out.append(f"{problem.op} {problem.direction} {problem.dtype}: {reason}")
                continue
            for name, result in results.items():
                ours = problem.tensors.get(name)
                if ours is None:
                    continue
                result = result.detach().to(ours.dtype)
                distance = (ordered(ours) - ordered(result)).abs()
                both_nan = torch.isnan(ours.float()) & torch.isnan(result.float())
                distance = torch.where(both_nan, torch.zeros_like(distance), distance)
                same, count, furthest = int((distance == 0).sum()), distance.numel(), int(distance.max())
                compared += 1
                must = (problem.op, name) in SAME_BITS
                print(f"{problem.op:20} {name:14} {problem.dtype:5} {same:6}/{count:<5} {furthest:34}"
                      f"{'  must be the same' if must else ''}")
                if must and furthest:
                    wrong.append(f"{problem.op} {name} {problem.dtype}: {furthest} representable values off")
                worst = float((up(ours) - up(result)).abs().max()) if ours.is_floating_point() else 0.0
                scale = float(up(result).abs().max()) if ours.is_floating_point() else 1.0
                step = {"f64": 2**-52, "f32": 2**-23, "f16": 2**-10, "bf16": 2**-7}.get(problem.dtype, 1)
                if worst > 16 * step * max(scale, 2**-14): # not rounding any more: another formula
                    wrong.append(f"{problem.op} {name} {problem.dtype}: {worst:.3g} off, of at most {scale:.3g}")
    print(f"\n{compared} tensors compared")
    for reason in left_out:
        print(f"not compared: {reason}")
    for fault in wrong:
        print(f"WRONG {fault}")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
