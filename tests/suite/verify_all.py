#!/usr/bin/env python3
"""Verifies every right kernel for several seeds and prints the verdicts.

Right are all kernels of kernels/*/ but those with a meta.toml. A verdict other than PASS names its reasons. Exit 1
where one is neither PASS nor PASS WITH LIMITATIONS.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def manifests(names):
    for manifest in sorted(ROOT.glob("kernels/*/*.toml")):
        folder = manifest.parent
        if folder.name == "faulty" or (folder / "meta.toml").exists():
            continue
        if not names or folder.name in names:
            yield manifest.relative_to(ROOT)


class Verification:
    def __init__(self, options, manifest, seed):
        self.manifest, self.seed = manifest, seed
        self.verdict, self.text, self.invalid, self.seconds = "error", "", [], 0.0
        with tempfile.NamedTemporaryFile(prefix="assay-verify.", suffix=".json") as report:
            begin = time.monotonic()
            done = subprocess.run([options.assay, "verify", str(manifest), "--seed", str(seed), "--device",
                                   options.device, "--json", report.name], cwd=ROOT, capture_output=True, text=True)
            self.seconds = time.monotonic() - begin
            self.text = done.stdout + done.stderr
            if done.returncode in (0, 1, 3):
                found = json.loads(pathlib.Path(report.name).read_text())
                found = found[0] if isinstance(found, list) else found
                self.verdict = found["verdict"]
                self.invalid = [f"{row['tensor']} {row['dtype']}" for row in found["tensors"]
                                if row["verdict"] != "PASS"]

    def good(self):
        return self.verdict in ("PASS", "PASS WITH LIMITATIONS")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders of kernels/; all where none is named")
    parser.add_argument("--assay", default=str(ROOT / "build/release/tools/assay"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--parallel", type=int, default=2)
    options = parser.parse_args()
    options.assay = str(pathlib.Path(options.assay).resolve())

    work = [(manifest, seed) for manifest in manifests(options.names) for seed in options.seeds]
    if not work:
        parser.error("there is no such kernel")
    begin, bad, count = time.monotonic(), [], {}
    with concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        for result in pool.map(lambda item: Verification(options, *item), work):
            count[result.verdict] = count.get(result.verdict, 0) + 1
            why = "; not a plain pass: " + ", ".join(result.invalid) if result.invalid else ""
            print(f"{result.verdict:21} {str(result.manifest):44} seed {result.seed} {result.seconds:6.1f} s{why}",
                  flush=True)
            if not result.good():
                bad.append(result)
    for result in bad:
        print(f"\n{result.manifest} seed {result.seed}\n{result.text}")
    tally = ", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items()))
    print(f"{len(work)} verifications in {time.monotonic() - begin:.0f} s: {tally}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
