#!/usr/bin/env python3
"""Fuzzes every kernel that is wrong on purpose and every right one, and says what was found.

A folder with a meta.toml holds a wrong kernel (kernel.toml) and, mostly, its right twin (fixed.toml); every other
kernel.toml is right. Exit 1 where a fault is missed, a right kernel accused, or a campaign ends in an error.
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def manifests(names):
    """(manifest, meta or None) of every kernel, paths relative to the checkout."""
    wrong, right = [], []
    for manifest in sorted(ROOT.glob("kernels/**/*.toml")):
        if manifest.name == "meta.toml":
            continue
        folder = manifest.parent
        if names and not any(name in (folder.name, kernel_name(manifest)) for name in names):
            continue
        meta = folder / "meta.toml"
        if meta.exists() and manifest.name == "kernel.toml":
            wrong.append((manifest.relative_to(ROOT), tomllib.loads(meta.read_text())))
        else:
            right.append((manifest.relative_to(ROOT), None))
    return wrong + right


def kernel_name(manifest):
    folder, stem = manifest.parent.name, manifest.stem
    return folder if stem == "kernel" else f"{folder}.{stem}"


class Campaign:
    def __init__(self, options, manifest, meta, scratch):
        self.options, self.manifest, self.meta = options, manifest, meta
        self.name = kernel_name(manifest)
        self.scratch = scratch / self.name
        self.report, self.error, self.first = None, "", None

    def run(self):
        wrong = self.meta is not None
        self.fuzz(self.options.time if wrong else self.options.twin_time, stop=wrong and not self.options.full)
        if wrong and not self.options.full and self.findings() and not self.detection():
            self.fuzz(self.options.time, stop=False)  # the first finding was another consequence of the fault
        return self

    def fuzz(self, seconds, stop):
        run = self.scratch / ("first" if stop else "full")
        run.mkdir(parents=True)
        command = [self.options.assay, "fuzz", str(self.manifest), "--time", str(seconds), "--device",
                   self.options.device, "--jobs", str(self.options.jobs), "--seed", str(self.options.seed), "--out",
                   str(run / "findings"), "--corpus", str(run / "corpus"), "--json", str(run / "report.json")]
        if stop:
            command += ["--stop-after", "1"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        self.error = ""
        if done.returncode not in (0, 1):
            lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
            self.error = f"exit {done.returncode}: {lines[-1] if lines else ''}"
        try:
            self.report = json.loads((run / "report.json").read_text())
        except OSError:
            self.error = self.error or "no report"

    def findings(self):
        return self.report["findings"] if self.report else []

    def detection(self):
        """The earliest finding of a kind that the fault may show as."""
        allowed = [f for f in self.findings() if f["kind"] in self.meta["kinds"]]
        return min(allowed, key=lambda f: f["seconds_to_find"], default=None)

    def result(self):
        entry = {"kernel": self.name, "wrong_on_purpose": self.meta is not None, "error": self.error,
                 "cases": self.report["cases"] if self.report else 0,
                 "suspects_not_confirmed": self.report["suspects_not_confirmed"] if self.report else 0,
                 "findings": self.findings()}
        if self.meta is None:
            entry["verdict"] = "error" if self.error else "accused" if self.findings() else "clean"
            return entry
        found = self.detection()
        entry["verdict"] = "error" if self.error else "detected" if found else "missed"
        if found:
            entry.update(kind=found["kind"], seconds=found["seconds_to_find"], signature=found["signature"],
                         minimized_elements=found["minimized_elements"], dims=found["dims"], case=found["case"])
        return entry


def row(entry):
    text = f"{entry['verdict']:9} {entry['kernel']:36} {entry['cases']:7}"
    if entry["verdict"] == "detected":
        dims = "x".join(str(size) for size in entry["dims"].values())
        text += f" {entry['seconds']:8.2f}  {entry['kind']:15} {entry['minimized_elements']:4}  {dims}"
    elif entry["verdict"] in ("missed", "accused") and entry["findings"]:
        text += "           " + ", ".join(f["signature"] for f in entry["findings"])
    elif entry["verdict"] == "clean":
        text += f"           {entry['suspects_not_confirmed']} suspects not confirmed"
    return text + (f"  {entry['error']}" if entry["error"] else "")


def store(entry):
    """The minimized case of a detection as a reproducer of the repository, which expects its failure."""
    case = pathlib.Path(entry["case"])
    text = re.sub(r"^expect = .*$", f"expect = fail {entry['signature']}", case.read_text(), flags=re.MULTILINE)
    folder = ROOT / "corpus" / entry["kernel"]
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.case"):
        if "expect = fail" in old.read_text():
            old.unlink()
    (folder / f"{entry['signature']}.case").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders or kernels; all where none is named")
    parser.add_argument("--assay", default=str(ROOT / "build/release/tools/assay"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--time", type=int, default=30, help="seconds for each wrong kernel")
    parser.add_argument("--twin-time", type=int, default=60, help="seconds for each right kernel")
    parser.add_argument("--full", action="store_true", help="go on after the first finding")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="workers a campaign")
    parser.add_argument("--parallel", type=int, default=1, help="campaigns at a time")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="an empty folder for findings and corpora; else they are dropped")
    parser.add_argument("--store", action="store_true", help="put the reproducers into corpus/")
    options = parser.parse_args()
    options.assay = str(pathlib.Path(options.assay).resolve())

    kernels = manifests(options.names)
    if not kernels:
        parser.error("there is no such kernel")
    entries = []
    print(f"{'':9} {'kernel':36} {'cases':>7} {'seconds':>8}  {'kind':15} {'size':>4}  dims", flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-suite.") as dropped, \
            concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        scratch = (options.out or pathlib.Path(dropped)).resolve()
        campaigns = [Campaign(options, manifest, meta, scratch) for manifest, meta in kernels]
        for campaign in pool.map(Campaign.run, campaigns):
            entries.append(campaign.result())
            print(row(entries[-1]), flush=True)
            if options.store and entries[-1]["verdict"] == "detected":
                store(entries[-1])

    times = sorted(e["seconds"] for e in entries if e["verdict"] == "detected")
    count = {verdict: sum(e["verdict"] == verdict for e in entries)
             for verdict in ("detected", "missed", "clean", "accused", "error")}
    median = f", median {times[len(times) // 2]:.2f} s, slowest {times[-1]:.2f} s" if times else ""
    print(f"{count['detected']} of {count['detected'] + count['missed']} faults detected{median}; "
          f"{count['accused']} of {count['clean'] + count['accused']} right kernels accused; {count['error']} errors")
    if options.json:
        options.json.write_text(json.dumps({"seed": options.seed, "kernels": entries, **count}, indent=1) + "\n")
    return 1 if count["missed"] or count["accused"] or count["error"] else 0


if __name__ == "__main__":
    sys.exit(main())
