"""The kernels of the suite, and one campaign on one of them through the real program."""

import json
import pathlib
import subprocess
import tomllib

from smallest import larger_than_needed

ROOT = pathlib.Path(__file__).resolve().parents[2]


def manifests(folder, names=()):
    """(manifest, meta or None) of every kernel below a folder: the wrong ones, then the right ones."""
    wrong, right = [], []
    for manifest in sorted(folder.glob("**/*.toml")):
        if manifest.name == "meta.toml":
            continue
        if names and not any(name in (manifest.parent.name, kernel_name(manifest)) for name in names):
            continue
        meta = manifest.parent / "meta.toml"
        told = manifest.relative_to(ROOT) if manifest.is_relative_to(ROOT) else manifest
        if meta.exists() and manifest.name == "kernel.toml":
            wrong.append((told, tomllib.loads(meta.read_text())))
        else:
            right.append((told, None))
    return wrong + right


def kernel_name(manifest):
    folder, stem = manifest.parent.name, manifest.stem
    return folder if stem == "kernel" else f"{folder}.{stem}"


def minimizing_seconds(case):
    """From the claim of a finding to its minimized case, by the times of their files."""
    return max(0.0, case.stat().st_mtime - (case.parent / "original.case").stat().st_mtime)


class Campaign:
    def __init__(self, options, manifest, meta, seed, scratch):
        self.options, self.manifest, self.meta, self.seed = options, manifest, meta, seed
        self.name = kernel_name(manifest)
        self.scratch = scratch / str(seed) / self.name
        self.report, self.error = None, ""

    def run(self):
        if self.meta is None:
            runs = self.options.twin_runs
            self.fuzz(["--runs", str(runs)] if runs else ["--time", str(self.options.twin_time)], stop=False)
            return self
        budget = ["--time", str(self.options.time)]
        self.fuzz(budget, stop=not self.options.full)
        if not self.options.full and self.findings() and not self.detection():
            self.fuzz(budget, stop=False)  # the first finding was another consequence of the fault
        return self

    def fuzz(self, budget, stop):
        run = self.scratch / ("first" if stop else "full")
        run.mkdir(parents=True)
        command = [self.options.assay, "fuzz", str(self.manifest), *budget, "--device", self.options.device,
                   "--jobs", str(self.options.jobs), "--seed", str(self.seed), "--out", str(run / "findings"),
                   "--corpus", str(run / "corpus"), "--json", str(run / "report.json")]
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
        entry = {"kernel": self.name, "seed": self.seed, "wrong_on_purpose": self.meta is not None,
                 "error": self.error, "cases": self.report["cases"] if self.report else 0,
                 "suspects_not_confirmed": self.report["suspects_not_confirmed"] if self.report else 0,
                 "findings": self.findings()}
        if self.meta is None:
            entry["verdict"] = "error" if self.error else "accused" if self.findings() else "clean"
            return entry
        found = self.detection()
        entry["verdict"] = "error" if self.error else "detected" if found else "missed"
        if found:
            entry.update(kind=found["kind"], seconds=found["seconds_to_find"], signature=found["signature"],
                         minimized_elements=found["minimized_elements"], dims=found["dims"], case=found["case"],
                         minimizing_seconds=minimizing_seconds(pathlib.Path(found["case"])))
            if self.options.smallest:
                entry["larger_than_needed"] = larger_than_needed(self.options.assay, ROOT, self.manifest,
                                                                 found["case"], found["signature"])
        return entry
