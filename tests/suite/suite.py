#!/usr/bin/env python3
"""Fuzzes every kernel that is wrong on purpose and every right one, and says what was found.

A folder with a meta.toml holds a wrong kernel (kernel.toml) and, mostly, its right twin (fixed.toml); every other
kernel.toml is right. Exit 1 where a fault is missed, a right kernel accused, or a campaign ends in an error.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import protocols
from campaign import ROOT, Campaign, manifests


def row(entry):
    text = f"{entry['verdict']:9} {entry['kernel']:36} {entry['seed']:4} {entry['cases']:7}"
    if entry["verdict"] == "detected":
        dims = "x".join(str(size) for size in entry["dims"].values())
        text += (f" {entry['seconds']:8.2f} {entry['minimizing_seconds']:7.2f}  {entry['kind']:15} "
                 f"{entry['minimized_elements']:4}  {dims}")
        if entry.get("larger_than_needed"):
            text += "  fails too: " + ", ".join(entry["larger_than_needed"])
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


def totals(entries):
    """The figures by which a search is measured."""
    found = [e for e in entries if e["verdict"] == "detected"]
    right = [e for e in entries if not e["wrong_on_purpose"] and e["verdict"] != "error"]
    count = {verdict: sum(e["verdict"] == verdict for e in entries)
             for verdict in ("detected", "missed", "clean", "accused", "error")}
    cases = sum(e["cases"] for e in right)
    # Suspects of right kernels are all the confirmation's to clear: what it let through are false alarms.
    alarms = sum(len(e["findings"]) for e in right)
    suspects = alarms + sum(e["suspects_not_confirmed"] for e in right)
    count["right"] = {"cases": cases, "suspects": suspects, "confirmed": alarms,
                      "rate_below_95": upper_bound(alarms, suspects) if suspects else None}
    if found:
        count["median"] = {"seconds": statistics.median(e["seconds"] for e in found),
                           "cases_when_ended": statistics.median(e["cases"] for e in found),
                           "minimizing_seconds": statistics.median(e["minimizing_seconds"] for e in found),
                           "elements_off_base": statistics.median(e["minimized_elements"] for e in found),
                           "volume": statistics.median(volume(e["dims"]) for e in found)}
        count["slowest_seconds"] = max(e["seconds"] for e in found)
        count["slowest_minimizing"] = max(e["minimizing_seconds"] for e in found)
        count["smallest_along_each_axis"] = sum(e.get("larger_than_needed") == [] for e in found)
        count["largest_elements_off_base"] = max(e["minimized_elements"] for e in found)
    return count


def volume(dims):
    product = 1
    for size in dims.values():
        product *= size
    return product


def upper_bound(hits, trials, confidence=0.95):
    """The one-sided exact (Clopper-Pearson) bound on a share; no hits of n give about 3 / n."""
    def at_most(share):  # the chance of so few hits
        return sum(math.comb(trials, k) * share ** k * (1 - share) ** (trials - k) for k in range(hits + 1))

    low, high = hits / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) > 1 - confidence else (low, middle)
    return high


def say(count, entries):
    right = count["right"]
    print(f"{count['detected']} of {count['detected'] + count['missed']} faults detected; "
          f"{count['accused']} of {count['clean'] + count['accused']} right kernels accused; {count['error']} errors")
    if "median" in count:
        median = count["median"]
        print(f"medians: {median['seconds']:.2f} s to the finding (slowest {count['slowest_seconds']:.2f}), "
              f"{median['minimizing_seconds']:.2f} s of minimizing (slowest {count['slowest_minimizing']:.2f}), "
              f"{median['elements_off_base']:g} elements off the base value (most "
              f"{count['largest_elements_off_base']}), product of the dims {median['volume']:g}")
        if any("larger_than_needed" in e for e in entries):
            print(f"{count['smallest_along_each_axis']} of {count['detected']} have every dim at the smallest that "
                  f"still fails along its axis")
    if right["suspects"]:
        print(f"right kernels: {right['confirmed']} of {right['suspects']} suspects confirmed over {right['cases']} "
              f"cases; with 95 % confidence fewer than {right['rate_below_95']:.1e} a suspect, "
              f"{right['rate_below_95'] * right['suspects'] / right['cases']:.1e} a case")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="folders or kernels; all where none is named")
    parser.add_argument("--assay", default=str(ROOT / "build/release/tools/assay"))
    parser.add_argument("--kernels", type=pathlib.Path, default=ROOT / "kernels", help="the folder with the kernels")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--time", type=int, default=30, help="seconds for each wrong kernel; 0: leave them out")
    parser.add_argument("--twin-time", type=int, default=60, help="seconds for each right one; 0: leave them out")
    parser.add_argument("--twin-runs", type=int, default=0, help="cases for each right one, instead of a time")
    parser.add_argument("--full", action="store_true", help="go on after the first finding")
    parser.add_argument("--smallest", action="store_true",
                        help="check of each detection that no smaller size along one dim fails alike")
    parser.add_argument("--seeds", default="1", help="one or several, as 1,2,3")
    parser.add_argument("--jobs", type=int, default=1, help="workers a campaign")
    parser.add_argument("--parallel", type=int, default=1, help="campaigns at a time")
    parser.add_argument("--protocols", nargs="?", const=str(ROOT / "build/release/tests/suite/assay-protocols"),
                        metavar="PROGRAM", help="run the three other protocols on the same kernels too")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="an empty folder for findings and corpora; else they are dropped")
    parser.add_argument("--store", action="store_true", help="put the reproducers into corpus/")
    options = parser.parse_args()
    options.assay = str(pathlib.Path(options.assay).resolve())
    options.seeds = [int(seed) for seed in options.seeds.split(",")]
    return parser, options


def main():
    parser, options = arguments()
    kernels = manifests(options.kernels.resolve(), options.names)
    kernels = [k for k in kernels if (options.twin_runs or options.twin_time if k[1] is None else options.time) > 0]
    if not kernels:
        parser.error("there is no such kernel")
    entries = []
    print(f"{'':9} {'kernel':36} {'seed':>4} {'cases':>7} {'found s':>8} {'min. s':>7}  {'kind':15} {'size':>4}  dims", flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-suite.") as dropped, \
            concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
        scratch = (options.out or pathlib.Path(dropped)).resolve()
        campaigns = [Campaign(options, manifest, meta, seed, scratch)
                     for seed in options.seeds for manifest, meta in kernels]
        for campaign in pool.map(Campaign.run, campaigns):
            entries.append(campaign.result())
            print(row(entries[-1]), flush=True)
            if options.store and entries[-1]["verdict"] == "detected":
                store(entries[-1])

    count = totals(entries)
    say(count, entries)
    comparison = None
    if options.protocols:
        comparison = protocols.compare(options.protocols, kernels, entries)
        print(protocols.table(comparison))
    if options.json:
        options.json.write_text(json.dumps({"seeds": options.seeds, "kernels": entries, **count,
                                            "protocols": comparison}, indent=1) + "\n")
    return 1 if count["missed"] or count["accused"] or count["error"] else 0


if __name__ == "__main__":
    sys.exit(main())
