"""The resident memory of a campaign and of all that it started, sampled, and whether it stays flat."""

import pathlib
import statistics


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


def descends(pid, ancestor, statuses):
    while pid != ancestor and statuses.get(pid):
        pid = statuses[pid][1]
    return pid == ancestor


class MemoryWatch:
    """Samples by process. Flat: what a process has in its last `window` seconds is at most `growth` above what it
    had in those after the campaign was `settle` seconds old, or it itself, if it was started later. The median of a
    window counts: a single sample shows the case in work, whose buffers go with it. Peaks are told beside."""

    def __init__(self, settle, window=60):
        self.settle = settle
        self.window = window
        self.processes = {}  # pid: {"name", "samples": [(second, resident, own)]}
        self.most = (0, 0, 0)  # kilobytes of all processes' own, workers, second

    def sample(self, campaign, second):
        own, workers = 0, 0
        statuses = {int(folder.name): status_of(folder.name)
                    for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit()}
        for pid, status in statuses.items():
            if status is None or not descends(pid, campaign, statuses):
                continue
            known = self.processes.setdefault(pid, {
                "name": "campaign" if pid == campaign else kernel_of(pid) or status[0], "samples": []})
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
            before = statistics.median(s[1] for s in settled if s[0] <= settled[0][0] + self.window)
            after = statistics.median(s[1] for s in settled if s[0] >= settled[-1][0] - self.window)
            told.append((after / before - 1, process["name"], round(before), round(after)))
        return sorted(told, reverse=True)

    def peaks(self):
        """Largest sample of any process before and after the middle of what follows `settle`."""
        samples = [s for process in self.processes.values() for s in process["samples"] if s[0] >= self.settle]
        middle = (self.settle + max((s[0] for s in samples), default=0)) / 2
        return [max((s[1] for s in samples if (s[0] < middle) == early), default=0) for early in (True, False)]

    def tell(self, verdicts, growth):
        told = self.growths()
        grown = [f"{name}: {before // 1024} MB to {after // 1024} MB, {share:+.1%}"
                 for share, name, before, after in told if share > growth]
        largest = f"largest {told[0][0]:+.1%}" if told else "none lived long enough to tell"
        verdicts.tell(bool(told) and not grown,
                      f"memory of {len(told)} of {len(self.processes)} processes is flat: {largest}", *grown[:20])
        early, late = self.peaks()
        print(f"       largest process once settled: {early // 1024} MB in the first half, {late // 1024} MB in the second")
        campaign = next(p for p in self.processes.values() if p["name"] == "campaign")
        print(f"       campaign {max(s[1] for s in campaign['samples']) // 1024} MB; at the most "
              f"{self.most[0] // 1024} MB of their own in {self.most[1]} workers; largest worker "
              f"{max((s[1] for p in self.processes.values() for s in p['samples']), default=0) // 1024} MB")
