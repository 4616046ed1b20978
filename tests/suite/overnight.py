#!/usr/bin/env python3
"""A campaign over all kernels as a user would leave it overnight, and whether what it leaves behind is true:
every wrong kernel found, no right one accused, memory flat, and the summary, the JSON, the triage page and its
JSON, the JUnit file and the disk telling the same. One line a property; exit 1 where one does not hold.

    tests/suite/overnight.py --time 30m --jobs 2
    tests/suite/overnight.py --time 2m --settle 60 softmax_naive relu add
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from campaign import ROOT, kernel_name, manifests
from memory import MemoryWatch


# The campaign's own doing once its time is over: a case in work that does not end soon is not waited for.
CUT_OFF = ": a case takes too long; its worker is killed"


def seconds_of(text):
    units = {"s": 1, "m": 60, "h": 3600}
    return float(text[:-1]) * units[text[-1]] if text[-1] in units else float(text)


def run(command, log):
    """Exit code and standard output of a command; its standard error goes to a file."""
    with open(log, "wb") as errors:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
    return done.returncode, done.stdout


def fuzz(options, kernels, out):
    command = [options.assay, "fuzz", *map(str, kernels), "--time", options.time, "--jobs", str(options.jobs),
               "--out", str(out / "findings"), "--json", str(out / "fuzz.json")]
    if options.seed is not None:
        command += ["--seed", str(options.seed)]
    watch = MemoryWatch(options.settle)
    began = time.monotonic()
    with open(out / "fuzz.txt", "wb") as text, open(out / "fuzz.err", "wb") as errors:
        campaign = subprocess.Popen(command, cwd=ROOT, stdout=text, stderr=errors)
        while campaign.poll() is None:
            watch.sample(campaign.pid, time.monotonic() - began)
            time.sleep(options.every)
    return campaign.returncode, (out / "fuzz.txt").read_text(), watch


def on_disk(findings):
    """{kernel: set of signatures} of the findings' folders."""
    stored = {}
    for case in findings.glob("*/*/*.case"):
        if case.name in ("minimized.case", "original.case"):
            stored.setdefault(case.parts[-3], set()).add(case.parts[-2])
    return stored


def by_kernel(pairs):
    found = {}
    for kernel, signature in pairs:
        found.setdefault(kernel, set()).add(signature)
    return found


class Verdicts:
    def __init__(self):
        self.failed = 0

    def tell(self, holds, what, *details):
        self.failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        for detail in details:
            print(f"       {detail}", flush=True)


def differing(a, b):
    names = sorted(set(a) | set(b))
    return [f"{name}: {sorted(a.get(name, set()) ^ b.get(name, set()))}" for name in names
            if a.get(name, set()) != b.get(name, set())]


def check_findings(verdicts, kernels, report):
    found = {entry["kernel"]: entry["findings"] for entry in report}
    wrong = {kernel_name(m): meta for m, meta in kernels if meta}
    missed = [name for name, meta in wrong.items() if not any(f["kind"] in meta["kinds"] for f in found[name])]
    accused = [f"{name}: {[f['signature'] for f in findings]}" for name, findings in found.items()
               if findings and name not in wrong]
    verdicts.tell(not missed, f"wrong kernels found: {len(wrong) - len(missed)} of {len(wrong)}", *missed)
    verdicts.tell(not accused, f"right kernels accused: {len(accused)} of {len(found) - len(wrong)}", *accused)
    idle = [entry["kernel"] for entry in report if entry["cases"] == 0]
    verdicts.tell(not idle, f"kernels without a single case: {len(idle)}", *idle)
    times = sorted(min(f["seconds_to_find"] for f in found[name]) for name in wrong if found[name])
    if times:
        print(f"       first finding of a kernel after: median {times[len(times) // 2]:.0f} s, "
              f"last {times[-1]:.0f} s; cases {sum(entry['cases'] for entry in report)}, "
              f"on one kernel at least {min(entry['cases'] for entry in report)}")


def check_agreement(verdicts, options, out, text, report):
    stored = on_disk(out / "findings")
    told = by_kernel((e["kernel"], f["signature"]) for e in report for f in e["findings"])
    count = sum(map(len, stored.values()))
    differ = differing(stored, told)
    verdicts.tell(not differ, f"JSON and disk agree on {count} findings", *differ)
    hits = [f"{f['signature']}: {f['hits']} in the JSON, {(pathlib.Path(f['case']).parent / 'hits').read_text()}"
            for e in report for f in e["findings"]
            if int((ROOT / f["case"]).parent.joinpath("hits").read_text()) != f["hits"]]
    verdicts.tell(not hits, "JSON and disk agree on hits", *hits)
    summary = {name: int(n) if n != "no" else 0 for name, n in re.findall(
        r"^(\S+) on \S+.*?: \d+ cases? in .*?, (no|\d+) findings?$", text, re.MULTILINE)}
    expected = {entry["kernel"]: len(entry["findings"]) for entry in report}
    verdicts.tell(summary == expected, "summary and JSON agree on the findings of each kernel",
                  *[f"{k}: {summary.get(k)} and {expected.get(k)}" for k in sorted(set(summary) | set(expected))
                    if summary.get(k) != expected.get(k)])

    for attempt in ("cold", "again"):
        began = time.monotonic()
        code, _ = run([options.assay, "triage", str(out / "findings"), "--json", str(out / "triage.json"),
                       "--html", str(out / "triage.html")], out / "triage.err")
        print(f"       triage ({attempt}): {time.monotonic() - began:.1f} s for {count} findings, exit {code}")
    triage = json.loads((out / "triage.json").read_text())
    grouped = by_kernel((g["kernel"], pathlib.Path(f["case"]).parent.name) for g in triage["groups"]
                        for f in g["findings"])
    differ = differing(stored, grouped)
    verdicts.tell(not differ and not triage["unread"], "triage's JSON and disk agree", *differ, *triage["unread"])
    closed = [f["case"] for g in triage["groups"] for f in g["findings"] if not f["open"]]
    verdicts.tell(not closed, "every finding still fails when triage runs it", *closed)
    page = (out / "triage.html").read_text()
    absent = [f["signature"] for g in triage["groups"] for f in g["findings"] if f["signature"] not in page]
    verdicts.tell(not absent, f"the page shows all {len(triage['groups'])} groups", *absent)

    code, _ = run([options.assay, "replay", str(out / "findings"), "--junit", str(out / "replay.xml")],
                  out / "replay.err")
    suites = xml.etree.ElementTree.parse(out / "replay.xml").getroot()
    cases = [case for case in suites.iter("testcase")]
    told = [case.get("name", "") + case.get("file", "") for case in cases]
    minimized = sum("minimized.case" in name for name in told)
    originals = sum("original.case" in name for name in told)  # whose minimizing the end cut short
    failed = sum(case.find("failure") is not None for case in cases)
    verdicts.tell(failed == minimized + originals == count and code == (1 if count else 0),
                  f"JUnit: {failed} of {len(cases)} cases fail, {minimized} minimized and {originals} not yet")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="names; all of kernels/ otherwise")
    parser.add_argument("--assay", default=str(ROOT / "build/release/tools/assay"))
    parser.add_argument("--time", default="30m")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--settle", type=float, default=300, help="seconds after which memory must be flat")
    parser.add_argument("--every", type=float, default=5, help="seconds between two samples of memory")
    parser.add_argument("--growth", type=float, default=0.05, help="of a process's memory that is still flat")
    parser.add_argument("--twins", action="store_true", help="the right twins of wrong kernels, too")
    parser.add_argument("--out", type=pathlib.Path, help="keep everything here; a new folder")
    options = parser.parse_args()
    out = (options.out or pathlib.Path(tempfile.mkdtemp(prefix="assay-overnight-"))).resolve()
    out.mkdir(parents=True, exist_ok=True)
    kernels = [(m, meta) for m, meta in manifests(ROOT / "kernels", options.kernels)
               if options.twins or m.name != "fixed.toml"]
    if not kernels:
        sys.exit("no such kernel")

    code, text, watch = fuzz(options, [manifest for manifest, _ in kernels], out)
    report = json.loads((out / "fuzz.json").read_text())
    report = report if isinstance(report, list) else [report]
    verdicts = Verdicts()
    expected = 1 if any(entry["findings"] for entry in report) else 0
    verdicts.tell(code == expected, f"the campaign over {len(kernels)} kernels ended with exit {code}")
    notes = [line for line in (out / "fuzz.err").read_text().splitlines() if "assay: " in line]
    crashes = [note for note in notes if CUT_OFF not in note]
    verdicts.tell(not crashes, "no worker died and no kernel was left out", *crashes[:10])
    for note in set(notes) - set(crashes):
        print(f"       at the end: {note}")
    check_findings(verdicts, kernels, report)
    watch.tell(verdicts, options.growth)
    (out / "memory.json").write_text(json.dumps(watch.series(), indent=1))
    check_agreement(verdicts, options, out, text, report)
    if not options.out and not verdicts.failed:
        shutil.rmtree(out)
    else:
        print(f"       everything is in {out}")
    sys.exit(1 if verdicts.failed else 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
