"""The resident memory of a campaign and of its workers, sampled, and whether it stays flat."""

import pathlib


def status_of(pid):
    """(name, parent, kilobytes resident, kilobytes of its own) or None once it has gone."""
    try:
        fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
        return (fields["Name"].strip(), int(fields["PPid"]), int(fields["VmRSS"].split()[0]),
                int(fields["RssAnon"].split()[0]))
    except (OSError, KeyError, ValueError):
        return None


def kernel_of(pid):
    try:
        for variable in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            if variable.startswith(b"ASSAY_KERNEL="):
                return variable.split(b"=", 1)[1].decode()
    except OSError:
        pass
    return ""


class MemoryWatch:
    """Samples by process. Flat: what a process has at its end is at most `growth` above what it had when the
    campaign was `settle` seconds old, or as old itself, if it was started later."""

    def __init__(self, settle):
        self.settle = settle
        self.processes = {}  # pid: {"name", "samples": [(second, resident, own)]}
        self.most = (0, 0, 0)  # kilobytes of all processes' own, workers, second

    def sample(self, campaign, second):
        own, workers = 0, 0
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            pid = int(folder.name)
            status = status_of(pid)
            if status is None or (pid != campaign and status[1] != campaign):
                continue
            known = self.processes.setdefault(pid, {
                "name": "campaign" if pid == campaign else kernel_of(pid), "samples": []})
            known["samples"].append((round(second, 1), status[2], status[3]))
            own += status[3]
            workers += pid != campaign
        self.most = max(self.most, (own, workers, second))

    def series(self):
        return [{"pid": pid, **process} for pid, process in self.processes.items()]

    def growths(self):
        """(share, name, before, after) of each process that lived long enough to tell."""
        told = []
        for process in self.processes.values():
            samples = process["samples"]
            settled = [s for s in samples if s[0] >= max(self.settle, samples[0][0] + self.settle)]
            if len(settled) < 2:
                continue
            before, after = settled[0][1], max(s[1] for s in settled[-3:])
            told.append((after / before - 1, process["name"], before, after))
        return sorted(told, reverse=True)

    def tell(self, verdicts, growth):
        told = self.growths()
        grown = [f"{name}: {before // 1024} MB to {after // 1024} MB, {share:+.1%}"
                 for share, name, before, after in told if share > growth]
        largest = f"largest {told[0][0]:+.1%}" if told else "none lived long enough to tell"
        verdicts.tell(bool(told) and not grown,
                      f"memory of {len(told)} of {len(self.processes)} processes is flat: {largest}", *grown[:20])
        campaign = next(p for p in self.processes.values() if p["name"] == "campaign")
        print(f"       campaign {max(s[1] for s in campaign['samples']) // 1024} MB; at the most "
              f"{self.most[0] // 1024} MB of their own in {self.most[1]} workers; largest worker "
              f"{max((s[1] for p in self.processes.values() for s in p['samples']), default=0) // 1024} MB")
