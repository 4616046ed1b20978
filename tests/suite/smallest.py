"""Whether a minimized case has each dim at the smallest that still fails, the others as they are."""

import pathlib
import re
import subprocess
import tempfile
import tomllib

MOST_SIZES = 12  # tried of one dim: all smaller ones where there are no more, else those spread evenly


def dims_of(text):
    section = re.search(r"^\[dims\]\n(.*?)(?:\n\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return [(name, int(size)) for name, size in re.findall(r"^(\w+) = (\d+)$", section.group(1), re.MULTILINE)]


def smaller_sizes(size, declared):
    """Legal sizes below `size` of a dim as a manifest declares it."""
    if not isinstance(declared, dict):
        return []
    step = declared.get("multiple_of", 1)
    sizes = list(range(-(-declared["min"] // step) * step, size, step))
    if len(sizes) > MOST_SIZES:
        sizes = [sizes[k * (len(sizes) - 1) // (MOST_SIZES - 1)] for k in range(MOST_SIZES)]
    return sizes


def larger_than_needed(assay, root, manifest, case, signature):
    """The dims of which a smaller size fails alike, as "name <= size". A size at which a single element of the case
    lies outside makes another case, and does not count."""
    text = pathlib.Path(case).read_text()
    declared = tomllib.loads((root / manifest).read_text())["dims"]
    found = []
    with tempfile.TemporaryDirectory(prefix="assay-smallest.") as folder:
        path = pathlib.Path(folder) / "smaller.case"
        for dim, size in dims_of(text):
            for smaller in smaller_sizes(size, declared.get(dim, size)):
                path.write_text(re.sub(rf"^{dim} = {size}$", f"{dim} = {smaller}", text, flags=re.MULTILINE))
                told = subprocess.run([assay, "replay", str(path), "--device", "cpu"], cwd=root, text=True,
                                      capture_output=True, check=False)
                if told.returncode == 1 and signature in told.stdout:
                    found.append(f"{dim} <= {smaller}")
                    break
    return found
