#!/usr/bin/env python3
"""Whether the guidance earns its place: for every wrong kernel and several seeds the cases and seconds to the first
finding of a kind that its fault may show as, under searches of which each lacks one thing.

    guided        the search as it is
    no_sweep      without the sweep of corner cases before it
    no_feedback   every counter that libFuzzer climbs by is silent; mutations of whatever it kept
    plain         only fresh draws of the same generators: no sweep, no mutation, no feedback
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import sys
import tempfile

from campaign import ROOT, Campaign, manifests

SEARCHES = {"guided": "", "no_sweep": "sweep", "no_feedback": "feedback", "plain": "sweep,feedback,mutation"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--assay", default=str(ROOT / "build/release/tools/assay"))
    parser.add_argument("--kernels", type=pathlib.Path, default=ROOT / "kernels")
    parser.add_argument("--searches", default=",".join(SEARCHES))
    parser.add_argument("--time", type=int, default=30, help="seconds for each; one that finds nothing counts as this")
    parser.add_argument("--seeds", default="1,2,3,4,5,6,7,8,9,10")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.assay, options.device, options.jobs, options.full = str(pathlib.Path(options.assay).resolve()), "cpu", 1, False
    options.smallest = False
    kernels = [k for k in manifests(options.kernels.resolve(), options.names) if k[1] is not None]
    results = {}
    print(f"{'search':12} {'runs':>5} {'missed':>6} {'median s':>9} {'mean s':>7} {'90 %':>7} {'median cases':>13}")
    for search in options.searches.split(","):
        os.environ["ASSAY_WITHOUT"] = SEARCHES[search]
        with tempfile.TemporaryDirectory(prefix="assay-ablation.") as scratch, \
                concurrent.futures.ThreadPoolExecutor(options.parallel) as pool:
            campaigns = [Campaign(options, manifest, meta, int(seed), pathlib.Path(scratch))
                         for seed in options.seeds.split(",") for manifest, meta in kernels]
            entries = [campaign.result() for campaign in pool.map(Campaign.run, campaigns)]
        results[search] = entries
        times = sorted(e.get("seconds", options.time) for e in entries)
        missed = sum(e["verdict"] != "detected" for e in entries)
        print(f"{search:12} {len(entries):5} {missed:6} {statistics.median(times):9.2f} {statistics.mean(times):7.2f} "
              f"{times[int(0.9 * (len(times) - 1))]:7.2f} {statistics.median(e['cases'] for e in entries):13.0f}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
