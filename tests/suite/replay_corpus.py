#!/usr/bin/env python3
"""Replays the stored reproducers: each kernel that is wrong on purpose has one that shows its fault, and none of them
fails on its right twin. Cases of right kernels must pass. Exit 1 where one does not do as expected."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def replay(assay, cases, *more):
    done = subprocess.run([assay, "replay", *map(str, cases), "--device", "cpu", *more], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        print(f"replay {' '.join(map(str, cases))} {' '.join(more)}: exit {done.returncode}")
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main():
    assay, good = sys.argv[1], True
    own, twins = [], []
    for meta in sorted(ROOT.glob("kernels/faulty/*/meta.toml")):
        folder = meta.parent
        cases = [case.relative_to(ROOT) for case in sorted((ROOT / "corpus" / folder.name).glob("*.case"))]
        if not any("\nexpect = fail" in (ROOT / case).read_text() for case in cases):
            print(f"corpus/{folder.name} has no reproducer of the fault")
            good = False
            continue
        own += cases
        twins.append((cases, folder / "fixed.toml"))
    folders = [ROOT / "corpus/known_right", *ROOT.glob("corpus/*.fixed"), *(ROOT / "corpus" / folder.parent.name
                                               for folder in ROOT.glob("kernels/*/kernel.toml")
                                               if not (folder.parent / "meta.toml").exists())]
    right = [case.relative_to(ROOT) for folder in sorted(folders) for case in sorted(folder.glob("*.case"))]
    good &= replay(assay, own + right)
    for cases, twin in twins:
        good &= replay(assay, cases, "--kernel", str(twin.relative_to(ROOT)))
    print(f"{len(own)} reproducers, {len(right)} cases of right kernels")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
