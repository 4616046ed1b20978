"""Rows for every instruction that only computes: operands by rule, from the instruction's name alone."""
from forms import expand, sample
from values import FORMATS

FAMILIES = {}
for family, opcodes in {
        "integer": "add sub addc subc mul mul24 mad madc mad24 div rem abs neg min max sad dp4a dp2a",
        "logic": "and or xor not cnot lop3 shl shr shf bfe bfi clz popc brev bfind bmsk prmt fns",
        "compare": "set selp slct testp", "convert": "cvt", "float": "fma rcp sqrt rsqrt ex2 lg2 sin cos tanh copysign"}.items():
    for opcode in opcodes.split():
        FAMILIES[opcode] = family
COMPUTED = set(FAMILIES)
TYPES = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b16", "b32", "b64", "f16", "f16x2", "bf16", "bf16x2", "f32",
         "f64", "tf32", "e4m3x2", "e5m2x2", "pred"}
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
OPERANDS = {"abs": 1, "neg": 1, "not": 1, "cnot": 1, "clz": 1, "popc": 1, "brev": 1, "bfind": 1, "rcp": 1, "sqrt": 1, "rsqrt": 1,
            "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1, "testp": 1, "fma": 3, "mad": 3, "mad24": 3, "sad": 3}


def register_type(kind):
    """The register that a value of this type lives in."""
    kind = kind.split(":")[0]
    if kind in ("f16x2", "bf16x2", "u8", "s8", "tf32", "e4m3x4", "e5m2x4"):
        return "b32"
    return {"f16": "b16", "bf16": "b16", "e4m3x2": "b16", "e5m2x2": "b16"}.get(kind, kind)


def family_of(opcode, types):
    last = types[-1]
    if opcode == "cvt":
        floats = sum(t in FORMATS or t in ("tf32", "f16x2", "bf16x2", "e4m3x2", "e5m2x2") for t in types)
        if floats == 1:
            return "convert_from_integer" if types[0] in FORMATS else "convert_to_integer"
        return "convert_float" if floats == 2 else "convert_integer"
    if FAMILIES[opcode] in ("compare", "logic"):
        return FAMILIES[opcode]
    if last in ("f16", "f16x2", "bf16", "bf16x2"):
        return "half"
    if last in ("f32", "f64"):
        return last
    return "integer"


def row(ptx, kinds, outs, **more):
    return {"ptx": ptx, "kinds": kinds, "in": [register_type(k) for k in kinds], "out": outs, **more}


def rows_of(opcode, modifiers):
    """The rows of one instruction."""
    types = [m for m in modifiers if m in TYPES]
    if not types or "pred" in types:
        return []
    name = ".".join((opcode,) + modifiers)
    t, to = types[-1], register_type(types[0])
    plain = lambda kinds, out: [row(f"{name} %d0, " + ", ".join(f"%a{k}" for k in range(len(kinds))) + ";", kinds, [out])]
    if opcode == "cvt":
        pair = types[0].endswith("x2") and t == "f32"
        return plain([t] * (2 if pair else 1), to)
    if opcode == "set":
        if modifiers[1] in ("and", "or", "xor"):
            return [row(f"setp.ne.u32 %p0, %a2, 0;\n{name} %d0, %a0, %a1, %p0;", [t, t, "u32:bool"], [to])]
        return plain([t, t], to)
    if opcode == "selp":
        return [row(f"setp.ne.u32 %p0, %a2, 0;\n{name} %d0, %a0, %a1, %p0;", [t, t, "u32:bool"], [t])]
    if opcode == "slct":
        return plain([types[0], types[0], t], to)
    if opcode == "testp":
        return [row(f"{name} %p0, %a0;\nselp.b16 %d0, 1, 0, %p0;", [t], ["b16"])]
    if opcode in ("dp4a", "dp2a"):
        return plain(["b32", "b32", "b32"], "b32")
    if opcode in ("mul", "mad") and "wide" in modifiers:
        return plain([t, t] + [WIDE[t]] * (opcode == "mad"), WIDE[t])
    if opcode in ("addc", "subc", "madc"):
        base = {"addc": "add.cc", "subc": "sub.cc", "madc": "add.cc"}[opcode]
        rest = [t] * (3 if opcode == "madc" else 2)
        carry = "subc" if opcode == "subc" else "addc"
        tail = f"\n{carry}.{t} %d2, 0, 0;" if "cc" in modifiers else ""
        operands = ", ".join(f"%a{k + 2}" for k in range(len(rest)))
        return [row(f"{base}.{t} %d0, %a0, %a1;\n{name} %d1, {operands};{tail}", [t, t] + rest, [t] * (3 if tail else 2))]
    if "cc" in modifiers:
        kinds = [t] * (3 if opcode == "mad" else 2)
        carry = "subc" if opcode == "sub" else "addc"
        return [row(f"{name} %d0, " + ", ".join(f"%a{k}" for k in range(len(kinds))) + f";\n{carry}.{t} %d1, 0, 0;", kinds, [t, t])]
    if opcode in ("clz", "popc", "bfind"):
        return plain([t], "u32")
    if opcode in ("shl", "shr"):
        return plain([t, "u32:amount"], t)
    if opcode == "shf":
        return plain(["b32", "b32", "u32:amount"], t)
    if opcode == "bfe":
        return plain([t, "u32:amount", "u32:amount"], t)
    if opcode == "bfi":
        return plain([t, t, "u32:amount", "u32:amount"], t)
    if opcode == "bmsk":
        return plain(["u32:amount", "u32:amount"], t)
    if opcode == "prmt":
        return plain([t, t, "b32:selector"], t)
    if opcode == "fns":
        return plain([t, "b32:lane", "s32:offset"], t)
    if opcode == "lop3":
        return [row(f"lop3.b32 %d0, %a0, %a1, %a2, {table:#x};", [t, t, t], [t]) for table in (0x80, 0xca, 0x96, 0xe8, 0x1b, 0xf8, 0x2d)]
    return plain([t] * OPERANDS.get(opcode, 2), to)


def arithmetic_rows(table):
    """{family: rows}, and the table's lines that are about computing."""
    families, covered = {}, []
    for form in table:
        instructions = expand(form)
        if instructions[0][0] not in COMPUTED:
            continue
        covered.append(form)
        for opcode, modifiers in instructions:
            for made in rows_of(opcode, modifiers):
                types = [m for m in modifiers if m in TYPES]
                made["form"] = form
                families.setdefault(family_of(opcode, types), []).append(made)
    return families, covered


RELATIONS = {"integer": "eq ne lt le gt ge".split(), "unsigned": "eq ne lt le gt ge lo ls hi hs".split(), "bits": ["eq", "ne"],
             "float": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan".split()}


def setp_rows():
    """All relations of a type in one row: bit k of d0 is the first predicate of relation k, bit k of d1 the second."""
    rows = []
    for kind in "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64 f16 bf16 f16x2 bf16x2".split():
        group = "float" if kind.endswith("x2") or kind in FORMATS else {"b": "bits", "u": "unsigned", "s": "integer"}[kind[0]]
        for combine in ("", ".and", ".or", ".xor"):
            for ftz in ("", ".ftz") if kind in ("f32", "f16", "f16x2") else ("",):
                text = "setp.ne.u32 %p3, %a2, 0;\nmov.b32 %d0, 0;\nmov.b32 %d1, 0;\n"
                for k, relation in enumerate(RELATIONS[group]):
                    third = ", %p3" if combine else ""
                    second = "" if kind in ("f16", "bf16") else "|%p1"
                    text += f"setp.{relation}{combine}{ftz}.{kind} %p0{second}, %a0, %a1{third};\n"
                    text += f"selp.b32 %r0, {1 << k}, 0, %p0;\nor.b32 %d0, %d0, %r0;\n"
                    if second:
                        text += f"selp.b32 %r0, {1 << k}, 0, %p1;\nor.b32 %d1, %d1, %r0;\n"
                rows.append(row(text.rstrip(), [kind, kind, "u32:bool"], ["b32", "b32"], form="setp"))
    return rows
