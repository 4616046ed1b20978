"""Rows of the tensor-core instructions: every shape and type of mma.sync and wmma.mma on products that tell orders and
precisions of their sums apart, and the fragments of wmma.load and wmma.store, register by register."""
from arithmetic_rows import row

ROLES = ["unit", "wide", "cancel", ""]
PACKED = {"f16": "f16x2", "bf16": "bf16x2", "e4m3": "e4m3x4", "e5m2": "e5m2x4", "tf32": "tf32", "f64": "f64"}  # a factor's register
SUM = {"f16": "f16x2", "f32": "f32", "f64": "f64", "s32": "s32"}
OUT = {"f16": "b32", "f32": "f32", "f64": "f64", "s32": "s32"}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "f32": 32, "s32": 32}
SHAPES = {"m16n16k16": (16, 16, 16), "m32n8k16": (32, 8, 16), "m8n32k16": (8, 32, 16), "m16n16k8": (16, 16, 8), "m8n8k4": (8, 8, 4),
          "m8n8k32": (8, 8, 32), "m8n8k128": (8, 8, 128)}


def registers(elements, kind):
    """Of a lane."""
    return elements * BITS[kind] // 32 // max(32, BITS[kind])


def product(name, shape, a, b, c, d, role, threads, counts=None):
    m, n, k = shape
    na, nb, nc, nd = counts or (registers(m * k, a), registers(n * k, b), registers(m * n, c), registers(m * n, d))
    suffix = f":{role}" if role else ""
    factor = lambda kind: PACKED[kind] + suffix if kind in PACKED else "b32:bits"
    addend = " sum" if role == "tiny" else ""
    kinds = [factor(a)] * na + [factor(b)] * nb + [SUM[c] + (suffix + addend if c != "s32" else "")] * nc
    names = [f"%a{k}" for k in range(len(kinds))]
    groups = [names[:na], names[na:na + nb], names[na + nb:]]
    outs = [f"%d{k}" for k in range(nd)]
    text = f"{name} " + ", ".join("{" + ", ".join(g) + "}" for g in [outs] + groups) + ";"
    return row(text, kinds, [OUT[d]] * nd, threads=threads)


def mma_rows():
    rows = []
    shape = lambda name: tuple(int(part) for part in name[1:].replace("n", " ").replace("k", " ").split())
    floats = [("m16n8k8", "f16", "f32"), ("m16n8k16", "f16", "f32"), ("m16n8k8", "f16", "f16"), ("m16n8k16", "f16", "f16"),
              ("m16n8k8", "bf16", "f32"), ("m16n8k16", "bf16", "f32"), ("m16n8k4", "tf32", "f32"), ("m16n8k8", "tf32", "f32")]
    for name, kind, c in floats:
        for role in ROLES:
            rows.append(product(f"mma.sync.aligned.{name}.row.col.{c}.{kind}.{kind}.{c}", shape(name), kind, kind, c, c, role, 128))
    for name in ("m16n8k16", "m16n8k32"):
        for a, b, c in (("e4m3", "e4m3", "f32"), ("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f32"), ("e5m2", "e5m2", "f32"), ("e4m3", "e5m2", "f16")):
            for role in (ROLES if a != b else ["unit", ""]):
                rows.append(product(f"mma.sync.aligned.{name}.row.col.{c}.{a}.{b}.{c}", shape(name), a, b, c, c, role, 64))
    for name in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        for role in ROLES:
            rows.append(product(f"mma.sync.aligned.{name}.row.col.f64.f64.f64.f64", shape(name), "f64", "f64", "f64", "f64", role, 64))
        for rounding in ("rz", "rm", "rp"):
            rows.append(product(f"mma.sync.aligned.{name}.row.col.{rounding}.f64.f64.f64.f64", shape(name), "f64", "f64", "f64", "f64", "unit", 64))
    for bits, names in (("8", ("m8n8k16", "m16n8k16", "m16n8k32")), ("4", ("m8n8k32", "m16n8k32", "m16n8k64"))):
        for name in names:
            for a in "su":
                for b in "su":
                    for sat in ("", ".satfinite"):
                        rows.append(product(f"mma.sync.aligned.{name}.row.col{sat}.s32.{a}{bits}.{b}{bits}.s32", shape(name), a + bits, b + bits, "s32", "s32", "", 64))
    for name in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for op in ("xor", "and"):
            rows.append(product(f"mma.sync.aligned.{name}.row.col.s32.b1.b1.s32.{op}.popc", shape(name), "b1", "b1", "s32", "s32", "", 32))
    rows.append(row("movmatrix.sync.aligned.m8n8.trans.b16 %d0, %a0;", ["b32:bits"], ["b32"], threads=64))
    return rows


def tiny_rows():
    """Products and sums about the smallest numbers."""
    rows = []
    for name, shape, kind, c in (("m16n8k16", (16, 8, 16), "f16", "f32"), ("m16n8k16", (16, 8, 16), "f16", "f16"), ("m16n8k16", (16, 8, 16), "bf16", "f32"),
                                 ("m16n8k8", (16, 8, 8), "f16", "f32"), ("m16n8k8", (16, 8, 8), "tf32", "f32"), ("m16n8k4", (16, 8, 4), "tf32", "f32"),
                                 ("m16n8k32", (16, 8, 32), "e4m3", "f32"), ("m16n8k32", (16, 8, 32), "e5m2", "f32"), ("m16n8k32", (16, 8, 32), "e5m2", "f16")):
        rows.append(product(f"mma.sync.aligned.{name}.row.col.{c}.{kind}.{kind}.{c}", shape, kind, kind, c, c, "tiny", 128))
    rows.append(product("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", SHAPES["m16n16k8"], "tf32", "tf32", "f32", "f32", "tiny", 64))
    return rows


def wmma_product_rows():
    rows = []
    for name, shape in SHAPES.items():
        m, n, k = shape
        if k == 16:
            for d in ("f32", "f16"):
                for c in ("f32", "f16"):
                    for role in (ROLES if name == "m16n16k16" else ["cancel", ""]):
                        rows.append(product(f"wmma.mma.sync.aligned.row.col.{name}.{d}.{c}", shape, "f16", "f16", c, d, role, 64,
                                            (8, 8, registers(m * n, c), registers(m * n, d))))
            for role in ("unit", "cancel", ""):
                rows.append(product(f"wmma.mma.sync.aligned.row.row.{name}.f32.bf16.bf16.f32", shape, "bf16", "bf16", "f32", "f32", role, 64))
            for kind in ("s8", "u8"):
                for sat in ("", ".satfinite"):
                    rows.append(product(f"wmma.mma.sync.aligned.col.col.{name}.s32.{kind}.{kind}.s32{sat}", shape, kind, kind, "s32", "s32", "", 64))
    for layouts in ("row.row", "col.col", "col.row"):
        rows.append(product(f"wmma.mma.sync.aligned.{layouts}.m16n16k16.f32.f32", SHAPES["m16n16k16"], "f16", "f16", "f32", "f32", "unit", 64, (8, 8, 8, 8)))
    for role in ROLES:
        rows.append(product("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", SHAPES["m16n16k8"], "tf32", "tf32", "f32", "f32", role, 64))
    for rounding in ("", ".rn", ".rz", ".rm", ".rp"):
        for role in (ROLES if not rounding else ["cancel"]):
            rows.append(product(f"wmma.mma.sync.aligned.row.col.m8n8k4{rounding}.f64.f64.f64.f64", SHAPES["m8n8k4"], "f64", "f64", "f64", "f64", role, 64))
    for kind in ("s4", "u4"):
        for sat in ("", ".satfinite"):
            rows.append(product(f"wmma.mma.sync.aligned.row.col.m8n8k32.s32.{kind}.{kind}.s32{sat}", SHAPES["m8n8k32"], kind, kind, "s32", "s32", "", 64))
    for op in ("xor", "and"):
        rows.append(product(f"wmma.mma.{op}.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", SHAPES["m8n8k128"], "b1", "b1", "s32", "s32", "", 64))
    return rows


OWN = "mov.u32 %r0, tile;\nmad.lo.u32 %r1, %tid32, 32, %r0;\nst.shared.v4.b32 [%r1], {%a0, %a1, %a2, %a3};\nst.shared.v4.b32 [%r1+16], {%a4, %a5, %a6, %a7};\nbar.warp.sync 0xffffffff;\n"
GENERIC = "cvt.u64.u32 %rd0, %r0;\ncvta.shared.u64 %rd0, %rd0;\n"
READ = ";\nbar.warp.sync 0xffffffff;\nld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%r1];\nld.shared.v4.b32 {%d4, %d5, %d6, %d7}, [%r1+16];"


def pitch(layout, part, shape):
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[part]
    return columns if layout == "row" else rows


def load(part, layout, name, kind, how="shared"):
    shape = SHAPES[name]
    m, n, k = shape
    count = registers({"a": m * k, "b": n * k, "c": m * n}[part], kind)
    if kind == "f16" and part != "c":
        count = 8
    out = {"f32": "f32", "f64": "f64", "s32": "s32"}.get(kind, "b32")
    outs = ", ".join(f"%d{k}" for k in range(count))
    text = {"shared": OWN, "": OWN + GENERIC,
            "global": "st.global.v4.b32 [%cell], {%a0, %a1, %a2, %a3};\nbar.warp.sync 0xffffffff;\nmul.wide.u32 %rd0, %tid32, 16;\nsub.u64 %rd0, %cell, %rd0;\n"}[how]
    address = "%r0" if how == "shared" else "%rd0"
    dot = f".{how}" if how else ""
    return row(f"{text}wmma.load.{part}.sync.aligned.{layout}.{name}{dot}.{kind} {{{outs}}}, [{address}], {pitch(layout, part, shape)};",
               ["b32:bits"] * 8, [out] * count, threads=32)


def store(layout, name, kind):
    m, n, _ = SHAPES[name]
    count = registers(m * n, kind)
    kinds = [{"f16": "b32:bits", "f32": "f32:bits", "s32": "b32:bits", "f64": "f64:bits"}[kind]] * count
    values = ", ".join(f"%a{k}" for k in range(count))
    fill = "mov.u32 %r0, tile;\nmad.lo.u32 %r1, %tid32, 32, %r0;\nst.shared.v4.b32 [%r1], {1, 2, 3, 4};\nst.shared.v4.b32 [%r1+16], {5, 6, 7, 8};\nbar.warp.sync 0xffffffff;\n"
    return row(f"{fill}wmma.store.d.sync.aligned.{layout}.{name}.shared.{kind} [%r0], {{{values}}}, {pitch(layout, 'c', (m, n, 0))}" + READ, kinds, ["b32"] * 8, threads=32)


def wmma_memory_rows():
    rows = []
    for name in ("m16n16k16", "m32n8k16", "m8n32k16"):
        for layout in ("row", "col"):
            for part in "ab":
                rows += [load(part, layout, name, kind) for kind in ("f16", "bf16", "s8")]
            rows += [load("c", layout, name, kind) for kind in ("f16", "f32", "s32")]
            rows += [store(layout, name, kind) for kind in ("f16", "f32", "s32")]
    for layout in ("row", "col"):
        for name, factor, c in (("m16n16k8", "tf32", "f32"), ("m8n8k4", "f64", "f64")):
            rows += [load("a", layout, name, factor), load("b", layout, name, factor), load("c", layout, name, c), store(layout, name, c)]
        for name in ("m8n8k32", "m8n8k128"):
            rows += [load("c", layout, name, "s32"), store(layout, name, "s32")]
    for name, kind in (("m8n8k32", "s4"), ("m8n8k32", "u4"), ("m8n8k128", "b1"), ("m16n16k16", "u8")):
        rows += [load("a", "row", name, kind), load("b", "col", name, kind)]
    for layout in ("row", "col"):
        for how in ("", "global"):
            rows += [load("a", layout, "m16n16k16", "f16", how), load("b", layout, "m16n16k8", "tf32", how)]
    return rows


def tensor_rows():
    return {"tensor_mma": mma_rows(), "tensor_wmma": wmma_product_rows() + wmma_memory_rows(), "tensor_tiny": tiny_rows()}
