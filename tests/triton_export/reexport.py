#!/usr/bin/env python3
"""Makes every .ptx of the repository that Triton made again, and compares.

Exit 77, skipped, where no Python here has Triton ($ASSAY_TRITON_PYTHON may name one), or only another version.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/triton_export.py"


def main():
    python = os.environ.get("ASSAY_TRITON_PYTHON") or sys.executable
    found = subprocess.run([python, "-c", "import triton"], capture_output=True, text=True)
    if found.returncode != 0:
        print(f"skipped: {python} has no Triton")
        return 77
    stored = [path for folder in ("kernels", "tests") for path in sorted((ROOT / folder).glob("**/*.ptx"))
              if path.read_text().startswith("// Made by tools/triton_export.py")]
    if len(stored) < 10:
        print(f"only {len(stored)} files of Triton's were found")
        return 1
    done = subprocess.run([python, str(TOOL), "--check", *map(str, stored)], text=True, stdout=subprocess.PIPE)
    print(done.stdout, end="")
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines and all(line.startswith("skipped") for line in lines):
        return 77
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
