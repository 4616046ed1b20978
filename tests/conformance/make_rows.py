#!/usr/bin/env python3
"""Writes the rows of the conformance table, without their results: every instruction of the CPU device's own table
(ptx_tool --table) that ptxas accepts for sm_90, with inputs. record_rows then runs them on a GPU and adds the bits.

    build/release/tests/ptx/ptx_tool --table > table.txt
    tests/conformance/make_rows.py table.txt --ptxas /usr/local/cuda/bin/ptxas --out DIR

The rows of tests/ptx/rows, whose results are worked out by hand, become rows here too (stated.json), so that a GPU
has its word on them.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import tempfile

from arithmetic_rows import arithmetic_rows, register_type, setp_rows
from forms import sample
from machine_rows import atomic_rows, control_rows, matrix_rows, memory_rows, warp_rows
from tensor_rows import tensor_rows
from values import FORMATS, make_set, width_of

HEADER = ".version 8.7\n.target sm_90\n.address_size 64\n"
ROWS_OF_A_FORM = {"cvt": 200, "set": 90}


def entry_of(row, number):
    lines = [f".visible .entry row_{number}()", "{", ".reg .pred %p<10>;", ".reg .b32 %r<20>;", ".reg .b64 %rd<20>;", ".reg .b16 %h<10>;",
             ".reg .f32 %f<10>;", ".reg .f64 %g<10>;", ".reg .b64 %cell;", ".reg .b32 %tid32;", ".shared .align 16 .b8 tile[4096];"]
    lines += [f".reg .{kind} %a{k};" for k, kind in enumerate(row["in"])] + [f".reg .{kind} %d{k};" for k, kind in enumerate(row["out"])]
    return "\n".join(lines + row["ptx"].split("\n") + ["ret;", "}"])


def refused(rows, ptxas):
    """Indices of rows that ptxas does not take."""
    bad = set()
    functions = {row["functions"]: None for row in rows if "functions" in row}
    while True:
        text, owner = HEADER + "\n".join(functions), []
        line = text.count("\n") + 1
        for number, row in enumerate(rows):
            if number in bad:
                continue
            entry = entry_of(row, number)
            owner.append((line + 1, number))
            text += "\n" + entry
            line += entry.count("\n") + 1
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.ptx")
            open(path, "w").write(text)
            run = subprocess.run([ptxas, "-arch=sm_90", "-O0", "-o", "/dev/null", path], capture_output=True, text=True)
        if run.returncode == 0:
            return bad
        found = set()
        for at in re.findall(r"line (\d+)", run.stdout + run.stderr):
            owners = [number for begin, number in owner if begin <= int(at)]
            if owners:
                found.add(owners[-1])
        if not found - bad:
            raise SystemExit("ptxas: " + (run.stdout + run.stderr)[:2000])
        bad |= found


def stated_rows():
    """Rows of tests/ptx/rows that no fault ends, and their inputs."""
    rows, sets = [], {}
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ptx/rows")
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        for stated in json.load(open(path)):
            if "faults" in stated or any("-" in thread for thread in stated["threads"]):
                continue
            name = f"{os.path.basename(path)[:-5]}: {stated['name']}"
            columns = ["".join(thread[k] for thread in stated["threads"]) for k in range(len(stated["in"]))]
            sets[name] = {"types": stated["in"], "columns": columns}
            row = {"ptx": stated["ptx"].replace("; ", ";\n"), "inputs": name, "in": stated["in"], "out": stated["out"]}
            rows.append(row | ({"functions": stated["functions"]} if "functions" in stated else {}))
    return rows, sets


def write_family(folder, family, sets, rows):
    with open(os.path.join(folder, family + ".json"), "w") as file:
        file.write('{"inputs": {\n' + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in sets.items()) + '},\n"rows": [\n')
        file.write(",\n".join(json.dumps({k: v for k, v in row.items() if k != "in"}) for row in rows) + "\n]}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    table = open(arguments.table).read().split("\n")
    families, covered = arithmetic_rows([line for line in table if line])
    families["compare"] = families.get("compare", []) + setp_rows()
    families |= {"warp": warp_rows(), "memory": memory_rows(), "atomic": atomic_rows(), "control": control_rows(), "matrix": matrix_rows()} | tensor_rows()
    os.makedirs(arguments.out, exist_ok=True)
    total = 0
    for family, rows in sorted(families.items()):
        bad = refused(rows, arguments.ptxas)
        good = [row for k, row in enumerate(rows) if k not in bad]
        by_form = {}
        for row in good:
            by_form.setdefault(row.get("form", row["ptx"]), []).append(row)
        kept = []
        for form, those in by_form.items():
            limit = ROWS_OF_A_FORM.get(form.split("{")[0].split(".")[0], 64)
            keyed = {(",".join(row["kinds"]) + row["ptx"], tuple(row["ptx"].split("\n")[-1].split(" ")[0].split("."))): row for row in those}
            kept += [keyed[key] for key in sample(sorted(keyed), limit)]
        lost = sorted({row.get("form", row["ptx"]) for row in rows} - set(by_form))
        sets, out = {}, []
        for row in kept:
            name = ",".join(row["kinds"]) + (f" of {row['threads']}" if "threads" in row else "")
            if name not in sets:
                threads = row["threads"] if "threads" in row else 128 if family in ("warp", "control", "memory", "atomic", "matrix") else 256
                if family in ("integer", "logic") or (family == "compare" and row["in"][0] not in FORMATS and "x2" not in name): threads = 128
                lines = make_set(row["kinds"], threads)
                digits = [width_of(register_type(kind)) // 4 for kind in row["kinds"]]
                sets[name] = {"types": row["in"], "columns": ["".join(f"{line[k]:0{digits[k]}x}" for line in lines) for k in range(len(digits))]}
            out.append({"ptx": row["ptx"], "inputs": name, "out": row["out"]} | ({"functions": row["functions"]} if "functions" in row else {}))
        total += len(out)
        write_family(arguments.out, family, sets, out)
        print(f"{family}: {len(out)} rows, {len(rows) - len(good)} instructions that ptxas refuses" + "".join(f"\n  refused altogether: {form}" for form in lost))
    rows, sets = stated_rows()
    bad = refused(rows, arguments.ptxas)
    rows = [row for k, row in enumerate(rows) if k not in bad]
    write_family(arguments.out, "stated", {row["inputs"]: sets[row["inputs"]] for row in rows}, rows)
    print(f"stated: {len(rows)} rows, {len(bad)} that ptxas refuses\n{total + len(rows)} rows")


if __name__ == "__main__":
    main()
