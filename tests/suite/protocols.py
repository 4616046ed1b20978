"""Other people's checks on the same kernels: what they catch, and whom they accuse. The checks themselves are in
protocols.cpp, which says what each of them is."""

import json
import subprocess

from campaign import ROOT, kernel_name

NAMES = {"normal_draws": "five normal draws, one shape, allclose 1e-2",
         "torch_testing": "torch.testing's tolerances at tile-edge shapes, forward and gradients",
         "plain_gate": "the plain gate (fudge 2, no confirmation) at the same shapes"}


def compare(program, kernels, entries):
    """For each kernel which protocol calls it wrong; the campaigns' own verdicts of the first seed beside them."""
    rows = []
    for manifest, meta in kernels:
        name = kernel_name(manifest)
        done = subprocess.run([program, str(manifest)], cwd=ROOT, capture_output=True, text=True)
        own = next((e for e in entries if e["kernel"] == name), None)
        rows.append({"kernel": name, "wrong_on_purpose": meta is not None,
                     "assay": own is not None and own["verdict"] in ("detected", "accused"),
                     **(json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr.strip()})})
    return rows


def table(rows):
    wrong = [r for r in rows if r["wrong_on_purpose"]]
    right = [r for r in rows if not r["wrong_on_purpose"]]
    text = f"{'protocol':75} {'caught':>9} {'accused':>9}\n"
    for key, title in [*NAMES.items(), ("assay", "assay fuzz")]:
        caught, accused = (sum(bool(r.get(key)) for r in group) for group in (wrong, right))
        text += f"{title:75} {f'{caught}/{len(wrong)}':>9} {f'{accused}/{len(right)}':>9}\n"
    errors = [f"{r['kernel']}: {r['error']}" for r in rows if "error" in r]
    return text + "".join(f"no protocol could run {error}\n" for error in errors)
