#!/usr/bin/env python3
"""Compiles Triton kernels to PTX, on a machine without a GPU, and drafts the manifest that Assay tests them by.

    tools/triton_export.py softmax.py --kernel softmax --signature '*fp32:16, *fp32:16, i32' --constants BLOCK=1024
        --op softmax --dtype f32 --grid rows --dims rows=1..512,cols=1..1024

Every --kernel begins a kernel of its own, and the options of a kernel follow it; all of them go into one .ptx file,
which names in its first lines how it was made. `--check FILE.ptx...` makes such files again and compares. Needs
Triton (python3 -m pip install triton); exits with 4 where it is not there.
"""

import argparse
import importlib.util
import os
import pathlib
import re
import shlex
import sys

HEADER = "// Made by tools/triton_export.py with Triton "
TYPES = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "f64": "fp64"}
# What a GPU's driver has to know at least; sm_90a began with it.
PTX_VERSION = 80


class UserError(Exception):
    pass


class KernelOptions:
    """One kernel to compile, and how it will be launched."""

    def __init__(self, name):
        self.name, self.entry, self.signature, self.constants = name, name, [], {}
        self.num_warps, self.num_stages = 4, 3
        self.args, self.grid, self.backward = None, "1", False


class OfKernel(argparse.Action):
    """An option that belongs to the --kernel before it."""

    def __call__(self, parser, namespace, value, option_string=None):
        kernels = namespace.kernels
        if option_string == "--kernel":
            kernels.append(KernelOptions(value))
        elif not kernels:
            parser.error(f"{option_string} needs a --kernel before it")
        else:
            setattr(kernels[-1], self.dest, True if self.nargs == 0 else value)


def words(text):
    """Between commas, but for those inside parentheses."""
    return [word.strip() for word in re.split(r",(?![^()]*\))", text) if word.strip()]


def constants(text):
    result = {}
    for word in words(text):
        name, equals, value = word.partition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"'{word}' must be NAME=VALUE")
        try:
            result[name.strip()] = int(value)
        except ValueError:
            result[name.strip()] = {"True": True, "False": False, "None": None}.get(value, value)
    return result


def dims(text):
    result = {}
    for word in words(text):
        match = re.fullmatch(r"(\w+)=(\d+)(?:\.\.(\d+))?", word)
        if not match:
            raise argparse.ArgumentTypeError(f"'{word}' must be NAME=MIN..MAX or NAME=SIZE")
        result[match[1]] = (int(match[2]), int(match[3] or match[2]))
    return result


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", help="the Python file with the kernels")
    kernel = parser.add_argument_group("each kernel")
    of = dict(action=OfKernel, default=argparse.SUPPRESS)
    kernel.add_argument("--kernel", metavar="NAME", help="a function with @triton.jit", **of)
    kernel.add_argument("--entry", metavar="NAME", help="its name in the PTX, where one kernel is compiled twice", **of)
    kernel.add_argument("--signature", type=words, help="types of the parameters that are no tl.constexpr, in order; "
                        "*fp32:16 and i32:16 promise a multiple of 16, i32:1 that it is 1", **of)
    kernel.add_argument("--constants", type=constants, metavar="NAME=VALUE,...", help="the tl.constexpr ones", **of)
    kernel.add_argument("--num-warps", type=int, help="default 4", **of)
    kernel.add_argument("--num-stages", type=int, help="default 3", **of)
    kernel.add_argument("--args", type=words, metavar="NAME,...", help="what the operator calls each parameter of the "
                        "signature; default: as the kernel does", **of)
    kernel.add_argument("--grid", metavar="EXPR,...", help="1 to 3 expressions over the dims; default 1", **of)
    kernel.add_argument("--backward", nargs=0, help="it is launched in the backward pass", **of)
    draft = parser.add_argument_group("the manifest")
    draft.add_argument("--op", help="the operator (tools/assay list ops)")
    draft.add_argument("--dtype", choices=TYPES, help="default: of the first pointer")
    draft.add_argument("--dims", type=dims, default={}, metavar="NAME=MIN..MAX,...")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE.ptx", help="default: beside the source")
    parser.add_argument("--manifest", type=pathlib.Path, metavar="FILE.toml", help="default: kernel.toml beside the "
                        ".ptx; it is left alone where it is there already")
    parser.add_argument("--check", nargs="+", type=pathlib.Path, metavar="FILE.ptx", help="make these again and compare")
    namespace = argparse.Namespace(kernels=[])
    options = parser.parse_args(arguments, namespace)
    if not options.check and not (options.source and options.kernels):
        parser.error("give a Python file and at least one --kernel, or --check")
    return options


def load(source):
    path = pathlib.Path(source)
    if not path.is_file():
        raise UserError(f"{source}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's file raises
        raise UserError(f"{source}: {type(error).__name__}: {error}") from error
    return module


class Compiled:
    def __init__(self, options, ptx, metadata, parameters):
        self.options, self.ptx, self.metadata = options, ptx, metadata
        self.parameters = parameters  # (name, type, specialised) of what is passed


def compile_kernel(module, source, options):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(module, options.name, None)
    if not hasattr(kernel, "arg_names"):
        raise UserError(f"{source}: has no @triton.jit function {options.name}")
    unknown = set(options.constants) - set(kernel.arg_names)
    if unknown:
        raise UserError(f"{source}: {options.name} has no parameter {', '.join(sorted(unknown))}")
    passed = [name for name in kernel.arg_names if name not in options.constants]
    if len(passed) != len(options.signature):
        raise UserError(f"{source}: {options.name} takes {', '.join(passed)} beside its constants, but --signature has "
                        f"{len(options.signature)} types")
    signature, values, attributes, parameters = {}, dict(options.constants), {}, []
    types = dict(zip(passed, options.signature))
    for position, name in enumerate(kernel.arg_names):
        kind, _, promise = types.get(name, "constexpr").partition(":")
        if promise not in ("", "1", "16"):
            raise UserError(f"{source}: {options.name}: {name} has :{promise}; there are :1 and :16")
        if promise == "1":
            values[name] = 1
        if promise == "16":
            attributes[(position,)] = [["tt.divisibility", 16]]
        signature[name] = "constexpr" if name in values else kind
        if name in types:
            parameters.append((name, kind, promise))
    try:
        built = triton.compile(ASTSource(fn=kernel, signature=signature, constexprs=values, attrs=attributes),
                               target=GPUTarget("cuda", 90, 32),
                               options={"num_warps": options.num_warps, "num_stages": options.num_stages,
                                        "enable_fp_fusion": True, "ptx_version": PTX_VERSION})
    except Exception as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise UserError(f"{source}: {options.name}: {lines[-1] if lines else type(error).__name__}") from error
    ptx = re.sub(rf"\b{re.escape(options.name)}(?=\b|_param_\d)", options.entry, built.asm["ptx"])
    return Compiled(options, ptx, built.metadata, parameters)


def file_name(path, source):
    """As a reader of the repository knows it: no folders of the machine that made the PTX."""
    own = re.search(r"/(triton/language/.*)$", path)
    if own:
        return own[1]
    path, folder = pathlib.Path(path).resolve(), pathlib.Path(source).resolve().parent
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name


def merge(compiled, source):
    """One PTX text of several: one head, one table of files, no debug sections (.loc needs none)."""
    head, variables, bodies, files = [], {}, [], {}
    for index, one in enumerate(compiled):
        ptx = re.sub(r"^\t\.section\t[^\n]*\n?\t\{.*?^\t\}\n", "", one.ptx, flags=re.MULTILINE | re.DOTALL)
        ptx = re.sub(r"^\t\.section\t[^\n]*\{\s*\}\n", "", ptx, flags=re.MULTILINE)
        for line in re.findall(r"^\.(?:extern|global|visible \.global) .*;$", ptx, flags=re.MULTILINE):
            name = re.search(r"([\w$]+)\s*(\[|;|=)", line)[1]
            if variables.setdefault(name, line) != line:  # another variable of the same name
                ptx = re.sub(rf"(?<![\w$]){re.escape(name)}(?![\w$])", f"{name}_{index}", ptx)
                variables[f"{name}_{index}"] = line.replace(name, f"{name}_{index}", 1)
        numbers = {}
        for number, path in re.findall(r'^\t\.file\t(\d+) "([^"]*)"', ptx, flags=re.MULTILINE):
            numbers[number] = files.setdefault(file_name(path, source), len(files) + 1)
        body = []
        for line in ptx.splitlines():
            if line.startswith("\t.file\t"):
                continue
            if re.match(r"\.(version|target|address_size) ", line):
                if line not in head:
                    head.append(line)
                continue
            if line in variables.values():
                continue
            line = re.sub(r"^(\t\.loc\t)(\d+)( \d+ \d+).*", lambda m: f"{m[1]}{numbers[m[2]]}{m[3]}", line)
            line = re.sub(r"\s*//.*", "", line) if "inline asm" not in line else line
            if line.strip() and "inline asm" not in line:
                body.append(line)
        bodies += ["", *body]
    table = [f'\t.file\t{number} "{name}"' for name, number in files.items()]
    return "\n".join([*head, "", *variables.values(), *bodies, *table, ""])


def draft_manifest(options, compiled, ptx_name):
    """What Triton's metadata and the command line say; a dim that no --dims gives gets a range to be looked at."""
    first = next((kind[1:] for one in compiled for _, kind, _ in one.parameters if kind.startswith("*")), "fp32")
    dtype = options.dtype or next((ours for ours, theirs in TYPES.items() if theirs == first), "f32")
    ranges = {name: {"min": low, "max": high} for name, (low, high) in options.dims.items()}
    launches = []
    for one in compiled:
        names = one.options.args or [name for name, _, _ in one.parameters]
        if len(names) != len(one.parameters):
            raise UserError(f"--args of {one.options.name} has {len(names)} names for {len(one.parameters)} parameters")
        args = []
        for name, (_, kind, promise) in zip(names, one.parameters):
            integer = re.fullmatch(r"[iu](32|64)", kind)
            plain = re.fullmatch(r"\w+", name)
            if integer and plain:
                given = ranges.setdefault(name, {"min": 1, "max": 1024})
                if promise == "16":
                    given["multiple_of"] = 16
                    given["min"] = max(16, given["min"])
                if promise == "1":
                    given["min"] = given["max"] = 1
            if promise != "1":  # Triton takes it out of the parameter list
                args.append(name + (":i64" if integer and integer[1] == "64" and plain else ""))
        for size in (one.metadata.global_scratch_size, one.metadata.profile_scratch_size):
            if size:
                raise UserError(f"{one.options.name} needs {size} bytes of Triton's own scratch memory, which a "
                                "manifest cannot give it")
        launch = ["[[launch]]"] + (['pass   = "backward"'] if one.options.backward else [])
        launch += [f'kernel = "{one.options.entry}"',
                   "grid   = [" + ", ".join(f'"{text}"' for text in words(one.options.grid)) + "]",
                   f'block  = ["{32 * one.metadata.num_warps}"]', f'shared = "{one.metadata.shared}"',
                   "args   = [" + ", ".join(f'"{name}"' for name in [*args, "null", "null"]) + "]"]
        launches.append("\n".join(launch))
    lines = [f"# Drafted by tools/triton_export.py; the last two pointers are Triton's scratch, unused here.",
             f'op     = "{options.op or "?"}"', f'source = "{ptx_name}"', f'dtypes = ["{dtype}"]', "", "[dims]"]
    for name, given in ranges.items():
        lines.append(f"{name} = {{ " + ", ".join(f"{key} = {value}" for key, value in given.items()) + " }")
    return "\n".join(lines) + "\n\n" + "\n\n".join(launches) + "\n"


def command_of(options):
    """The arguments that make the same PTX again."""
    parts = [pathlib.Path(options.source).name]
    for kernel in options.kernels:
        parts += ["--kernel", kernel.name]
        if kernel.entry != kernel.name:
            parts += ["--entry", kernel.entry]
        parts += ["--signature", ",".join(kernel.signature)]
        if kernel.constants:
            parts += ["--constants", ",".join(f"{name}={value}" for name, value in kernel.constants.items())]
        parts += ["--num-warps", str(kernel.num_warps), "--num-stages", str(kernel.num_stages)]
    return shlex.join(parts)


def export(options):
    import triton

    module = load(options.source)
    compiled = [compile_kernel(module, options.source, kernel) for kernel in options.kernels]
    text = f"{HEADER}{triton.__version__}:\n// {command_of(options)}\n" + merge(compiled, options.source)
    return text, compiled


def check(paths):
    import triton

    different = 0
    for path in paths:
        text = path.read_text()
        lines = text.split("\n", 2)
        if not lines[0].startswith(HEADER) or len(lines) < 3:
            raise UserError(f"{path}: was not made by this tool")
        version = lines[0].removeprefix(HEADER).rstrip(":")
        if version != triton.__version__:
            print(f"skipped {path}: made with Triton {version}, and here is {triton.__version__}")
            continue
        arguments = shlex.split(lines[1].removeprefix("// "))
        again, _ = export(parse([str(path.parent / arguments[0]), *arguments[1:]]))
        same = again == text
        different += not same
        print(f"{'same' if same else 'DIFFERENT'} {path}")
    return 1 if different else 0


# Triton's cache knows a kernel by its text, and would name the file that had that text first.
os.environ["TRITON_ALWAYS_COMPILE"] = "1"


def main():
    options = parse(sys.argv[1:])
    if importlib.util.find_spec("triton") is None:
        print("triton_export: Triton is not installed for this Python; python3 -m pip install triton", file=sys.stderr)
        return 4
    try:
        if options.check:
            return check(options.check)
        text, compiled = export(options)
        out = options.out or pathlib.Path(options.source).with_suffix(".ptx")
        manifest = options.manifest or out.parent / "kernel.toml"
        draft = draft_manifest(options, compiled, out.name)
        out.write_text(text)
        if manifest.exists() and not options.manifest:
            print(f"wrote {out}; {manifest} is there already and stays as it is")
        else:
            manifest.write_text(draft)
            print(f"wrote {out} and {manifest}")
        return 0
    except (UserError, OSError) as error:
        print(f"triton_export: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
