"""Rows written by hand: the warp, the block, memory, atomics, control."""
from arithmetic_rows import row

FULL = "0xffffffff"


def warp_rows():
    rows = []
    for mode in ("up", "down", "bfly", "idx"):
        read = f"shfl.sync.{mode}.b32 %d0|%p0, %a0, %s, {FULL};\nselp.b32 %d1, 1, 0, %p0;"
        rows.append(row(read.replace("%s", "%a1, %a2"), ["b32", "b32:lane", "b32:clamp"], ["b32", "b32"]))
        for amount, clamp in ((1, 0 if mode == "up" else 31), (16, 0 if mode == "up" else 31), (4, 0x1807 if mode != "up" else 0x1800), (31, 31), (2, 12)):
            rows.append(row(read.replace("%s", f"{amount}, {clamp}"), ["b32"], ["b32", "b32"]))
        # lanes 0 to 15 alone
        rows.append(row("mov.u32 %r0, %laneid;\nmov.b32 %d0, %a0;\nmov.b32 %d1, 7;\nsetp.ge.u32 %p1, %r0, 16;\n@%p1 bra over;\n" +
                        f"shfl.sync.{mode}.b32 %d0|%p0, %a0, 3, {0 if mode == 'up' else 15}, 0xffff;\nselp.b32 %d1, 1, 0, %p0;\nover:",
                        ["b32"], ["b32", "b32"]))
    for mode in ("all", "any", "uni"):
        for kind in ("u32:bool", "u32:amount"):
            rows.append(row(f"setp.ne.u32 %p0, %a0, 0;\nvote.sync.{mode}.pred %p1, %p0, {FULL};\nvote.sync.{mode}.pred %p2, !%p0, {FULL};\n"
                            "selp.b32 %d0, 1, 0, %p1;\nselp.b32 %d1, 1, 0, %p2;", [kind], ["b32", "b32"]))
    rows.append(row(f"setp.ne.u32 %p0, %a0, 0;\nvote.sync.ballot.b32 %d0, %p0, {FULL};", ["u32:bool"], ["b32"]))
    split = "mov.u32 %r0, %laneid;\nand.b32 %r1, %r0, 3;\nmov.b32 %d0, 0;\nsetp.ne.u32 %p1, %r1, 1;\n@%p1 bra over;\n{}\nover:"
    rows.append(row(split.format("setp.ne.u32 %p0, %a0, 0;\nvote.sync.ballot.b32 %d0, %p0, 0x22222222;"), ["u32:bool"], ["b32"]))
    for bits in (32, 64):
        kind = f"b{bits}:few"
        rows.append(row(f"match.any.sync.b{bits} %d0, %a0, {FULL};", [kind], ["b32"]))
        for value in ("%a0", "7"):
            load = "" if value == "%a0" else f"mov.b{bits} %a0, 7;\n"
            rows.append(row(f"{load}match.all.sync.b{bits} %d0|%p0, %a0, {FULL};\nselp.b32 %d1, 1, 0, %p0;", [kind], ["b32", "b32"]))
        rows.append(row(split.format(f"match.any.sync.b{bits} %d0, %a0, 0x22222222;"), [kind], ["b32"]))
    for op, kinds in {"add": "us", "min": "us", "max": "us", "and": "b", "or": "b", "xor": "b"}.items():
        for kind in kinds:
            rows.append(row(f"redux.sync.{op}.{kind}32 %d0, %a0, {FULL};", [f"{kind}32"], ["b32"]))
            rows.append(row(split.format(f"redux.sync.{op}.{kind}32 %d0, %a0, 0x22222222;"), [f"{kind}32"], ["b32"]))
    rows.append(row("activemask.b32 %d0;", ["b32"], ["b32"]))
    rows.append(row(f"elect.sync %d0|%p0, {FULL};\nselp.b32 %d1, 1, 0, %p0;", ["b32"], ["b32", "b32"]))
    rows.append(row(split.format("elect.sync %d0|%p0, 0x22222222;\nselp.b32 %r2, 256, 0, %p0;\nor.b32 %d0, %d0, %r2;"), ["b32"], ["b32"]))
    for name in "laneid lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt tid.x tid.y ntid.x ntid.z ctaid.x nctaid.x".split():
        rows.append(row(f"mov.u32 %d0, %{name};", ["b32"], ["b32"]))
    for opcode in ("bar.sync 0", "bar.sync 1, 128", "barrier.sync 2", "barrier.cta.sync.aligned 3, 128"):
        rows.append(row("mov.u32 %r0, tile;\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r2, %r0, %r2;\nst.shared.b32 [%r2], %a0;\n" +
                        opcode + ";\nxor.b32 %r1, %r1, 127;\nshl.b32 %r1, %r1, 2;\nadd.u32 %r1, %r0, %r1;\nld.shared.b32 %d0, [%r1];", ["b32"], ["b32"]))
    for opcode in ("bar", "barrier"):
        aligned = "" if opcode == "bar" else ".aligned"
        rows.append(row(f"setp.ne.u32 %p0, %a0, 0;\n{opcode}.red.popc{aligned}.u32 %d0, 0, %p0;", ["u32:bool"], ["b32"]))
        for op in ("and", "or"):
            for kind in ("u32:bool", "u32:amount"):
                rows.append(row(f"setp.ne.u32 %p0, %a0, 0;\n{opcode}.red.{op}{aligned}.pred %p1, 1, 128, %p0;\nselp.b32 %d0, 1, 0, %p1;", [kind], ["b32"]))
    return rows


OWN = "mov.u32 %r0, tile;\nmad.lo.u32 %r0, %tid32, 16, %r0;\n"  # this thread's 16 bytes of shared memory


def memory_rows():
    rows = []
    places = {"global": "%cell", "shared": "%r0", "": "%cell"}
    for space, address in places.items():
        dot = f".{space}" if space else ""
        for kind in "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split():
            # loads extend into a wider register, by the sign of the type
            to = "b64" if kind[0] in "bus" else kind
            rows.append(row(f"{OWN}st{dot}.b64 [{address}], %a0;\nld{dot}.{kind} %d0, [{address}];", ["b64"], [to]))
            if kind[0] != "f":
                rows.append(row(f"{OWN}st{dot}.b64 [{address}], %a0;\nst{dot}.{kind} [{address}], %a1;\nld{dot}.b64 %d0, [{address}];", ["b64", "b64"], ["b64"]))
        rows.append(row(f"{OWN}st{dot}.v2.b64 [{address}], {{%a0, %a1}};\nld{dot}.v4.u32 {{%d0, %d1, %d2, %d3}}, [{address}];", ["b64", "b64"], ["u32"] * 4))
        rows.append(row(f"{OWN}st{dot}.v2.b64 [{address}], {{%a0, %a1}};\nld{dot}.v4.s8 {{%d0, %d1, %d2, %d3}}, [{address}+8];", ["b64", "b64"], ["s32"] * 4))
        rows.append(row(f"{OWN}st{dot}.v4.u16 [{address}], {{%a0, %a1, %a2, %a3}};\nld{dot}.b64 %d0, [{address}];", ["u16"] * 4, ["b64"]))
        for how in ("volatile", "relaxed.gpu", "relaxed.cta", "weak"):
            rows.append(row(f"{OWN}st.{how}{dot}.b32 [{address}], %a0;\nld.{how}{dot}.b32 %d0, [{address}];", ["b32"], ["b32"]))
        rows.append(row(f"{OWN}st.release.gpu{dot}.b32 [{address}], %a0;\nld.acquire.gpu{dot}.b32 %d0, [{address}];", ["b32"], ["b32"]))
    rows.append(row("{\n.local .align 8 .b8 own[32];\nand.b32 %r1, %a1, 3;\nmov.u32 %r0, own;\nst.local.v4.u32 [%r0], {%a0, %a1, %a0, %a1};\n"
                    "mad.lo.u32 %r1, %r1, 4, %r0;\nld.local.u32 %d0, [%r1];\n}", ["b32", "b32"], ["b32"]))
    rows.append(row(f"{OWN}st.shared.b32 [%r0], %a0;\ncvt.u64.u32 %rd0, %r0;\ncvta.shared.u64 %rd0, %rd0;\nld.b32 %d0, [%rd0];\n"
                    "isspacep.shared %p0, %rd0;\nselp.b32 %d1, 1, 0, %p0;\nisspacep.global %p0, %rd0;\nselp.b32 %d2, 1, 0, %p0;", ["b32"], ["b32"] * 3))
    rows.append(row("and.b32 %r0, %a0, 7;\nmul.wide.u32 %rd0, %r0, 4;\nmov.u64 %rd1, table;\nadd.u64 %rd1, %rd1, %rd0;\nld.const.b32 %d0, [%rd1];", ["b32"], ["b32"],
                    functions=".const .align 4 .b32 table[8] = {1, 0x80000000, 3, 0xffffffff, 5, 0, 7, 0x12345678};"))
    for size in (4, 8, 16):
        rows.append(row(f"{OWN}st.global.v2.b64 [%cell], {{%a0, %a1}};\nst.shared.v2.b64 [%r0], {{%a1, %a0}};\n"
                        f"cp.async.ca.shared.global [%r0], [%cell], {size};\ncp.async.commit_group;\ncp.async.wait_group 0;\n"
                        "ld.shared.v2.b64 {%d0, %d1}, [%r0];", ["b64", "b64"], ["b64", "b64"]))
    rows.append(row(f"{OWN}st.global.v2.b64 [%cell], {{%a0, %a1}};\ncp.async.cg.shared.global [%r0], [%cell], 16, 8;\ncp.async.wait_all;\n"
                    "ld.shared.v2.b64 {%d0, %d1}, [%r0];", ["b64", "b64"], ["b64", "b64"]))
    rows.append(row("mov.b64 {%d0, %d1}, %a0;\nmov.b64 %d2, {%d1, %d0};", ["b64"], ["b32", "b32", "b64"]))
    rows.append(row("mov.b32 {%d0, %d1}, %a0;\nmov.b32 %d2, {%d1, %d0};", ["b32"], ["b16", "b16", "b32"]))
    return rows


def matrix_rows():
    """mma.sync on products of many kinds, and the moves of 8x8 matrices."""
    rows = []
    for kind in ("f16", "bf16"):
        for k, a, b in ((8, 2, 1), (16, 4, 2)):
            names = [f"%a{n}" for n in range(a + b + 4)]
            parts = [", ".join(names[:a]), ", ".join(names[a:a + b]), ", ".join(names[a + b:])]
            for role in ("unit", "wide", ""):
                suffix = f":{role}" if role else ""
                rows.append(row(f"mma.sync.aligned.m16n8k{k}.row.col.f32.{kind}.{kind}.f32 {{%d0, %d1, %d2, %d3}}, " +
                                ", ".join("{" + part + "}" for part in parts) + ";", [f"{kind}x2{suffix}"] * (a + b) + [f"f32{suffix}"] * 4, ["f32"] * 4))
    store = "mov.u32 %r0, tile;\nmad.lo.u32 %r0, %tid32, 16, %r0;\nst.shared.v4.b32 [%r0], {%a0, %a1, %a2, %a3};\nbar.warp.sync 0xffffffff;\n"
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            out = ", ".join(f"%d{n}" for n in range(count))
            rows.append(row(f"{store}ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{out}}}, [%r0];", ["b32"] * 4, ["b32"] * count))
            values = ", ".join(f"%a{n}" for n in range(count))
            rows.append(row(f"{store}stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r0], {{{values}}};\nbar.warp.sync 0xffffffff;\n"
                            "ld.shared.v4.b32 {%d0, %d1, %d2, %d3}, [%r0];", ["b32"] * 4, ["b32"] * 4))
    return rows


def atomic_rows():
    rows = []
    operations = [(op, kind) for op in ("and", "or", "xor", "exch") for kind in ("b32", "b64")]
    operations += [("add", kind) for kind in "u32 s32 u64 f32 f64".split()]
    operations += [("add.noftz", kind) for kind in "f16 f16x2 bf16 bf16x2".split()]
    operations += [(op, "u32") for op in ("inc", "dec")]
    operations += [(op, kind) for op in ("min", "max") for kind in "u32 s32 u64 s64".split()]
    bits = {"16": "b16", "32": "b32", "64": "b64"}
    for space, address in {"global": "%cell", "shared": "%r0", "": "%cell"}.items():
        dot = f".{space}" if space else ""
        for op, kind in operations:
            size = "32" if kind.endswith("x2") else kind[-2:]
            register = {"f16": "b16", "bf16": "b16", "f16x2": "b32", "bf16x2": "b32"}.get(kind, kind)
            store = f"{OWN}st{dot}.{bits[size]} [{address}], %a0;\n"
            rows.append(row(f"{store}atom{dot}.{op}.{kind} %d0, [{address}], %a1;\nld{dot}.{bits[size]} %d1, [{address}];", [kind, kind], [register, bits[size]]))
            if op != "exch":
                rows.append(row(f"{store}red{dot}.{op}.{kind} [{address}], %a1;\nld{dot}.{bits[size]} %d0, [{address}];", [kind, kind], [bits[size]]))
        for kind in ("b16", "b32", "b64"):
            compare = "mov.b16 %h0, %a1;\nand.b16 %h0, %h0, 1;\nsetp.ne.b16 %p0, %h0, 0;\n" if kind == "b16" else f"cvt.u32.u{kind[1:]} %r1, %a1;\nand.b32 %r1, %r1, 1;\nsetp.ne.b32 %p0, %r1, 0;\n"
            rows.append(row(f"{OWN}st{dot}.{kind} [{address}], %a0;\n{compare}@%p0 mov.{kind} %a1, %a0;\n"
                            f"atom{dot}.cas.{kind} %d0, [{address}], %a1, %a2;\nld{dot}.{kind} %d1, [{address}];", [kind] * 3, [kind, kind]))
    begin = "mov.u32 %r0, tile;\nsetp.ne.u32 %p0, %tid32, 0;\n@%p0 bra ready;\nst.shared.b64 [%r0], 0;\nready:\nbar.sync 0;\n"
    for op, kind in (("add", "u32"), ("add", "u64"), ("min", "s32"), ("max", "u64"), ("xor", "b32"), ("or", "b64"), ("inc", "u32")):
        operand = "1000" if op == "inc" else "%a0"
        width = kind[1:]
        rows.append(row(f"{begin}red.shared.{op}.{kind} [%r0], {operand};\nbar.sync 0;\nld.shared.b{width} %d0, [%r0];", [kind], [f"b{width}"]))
    return rows


def control_rows():
    twice = (".func (.param .b32 result) twice(.param .b32 x)\n{\n.reg .b32 %x;\nld.param.b32 %x, [x];\nadd.u32 %x, %x, %x;\n"
             "st.param.b32 [result], %x;\nret;\n}\n")
    call = "{\n.param .b32 x;\n.param .b32 result;\nst.param.b32 [x], %a0;\ncall.uni (result), twice, (x);\nld.param.b32 %d0, [result];\n}"
    rows = [row(call, ["b32"], ["b32"], functions=twice)]
    rows.append(row("and.b32 %r0, %a0, 3;\nmov.b32 %d0, 99;\nchoices: .branchtargets one, two, three, three;\nbrx.idx %r0, choices;\n"
                    "one:\nmov.b32 %d0, 1;\nbra over;\ntwo:\nmov.b32 %d0, 2;\nbra over;\nthree:\nadd.u32 %d0, %a0, 3;\nover:", ["b32"], ["b32"]))
    rows.append(row("mov.b32 %d0, 0;\nand.b32 %r0, %a0, 63;\nagain:\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra over;\n"  # a loop of its own length in every lane
                    "mad.lo.u32 %d0, %d0, 31, %r0;\nsub.u32 %r0, %r0, 1;\nbra again;\nover:", ["b32"], ["b32"]))
    rows.append(row("setp.lt.s32 %p0, %a0, 0;\n@%p0 neg.s32 %d0, %a0;\n@!%p0 mov.b32 %d0, %a0;", ["s32"], ["s32"]))
    return rows
