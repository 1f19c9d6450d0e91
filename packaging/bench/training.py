"""Reads a dataset as a training does, and shows what came out.

training.py load NAME ROUND ROOT NAMES DISK BATCH COMPUTE WORKERS EPOCHS ROOM [GROUP...]
training.py line
training.py table FILES SIZE SHARE RATE DEMAND BATCH WORKERS RUNS [RECORD README]

"load" prints a line of JSON: a run, with the figures of each epoch. Its workers run in the control groups; the last one
has no more than ROOM bytes of page cache, if that is above 0. "line" reads it, and shows it. "table" shows the
table of all runs in a file, and keeps them in RECORD, for the table in README, if these are given.
"""

import json
import os
import statistics
import sys
import time

BEGIN, END = "<!-- packaging/bench/training -->\n", "<!-- /packaging/bench/training -->\n"
SECTOR = 512


def origin_bytes(disk):
    """What was read from the origin's disk until now."""
    with open(f"/sys/block/{disk}/stat") as file:
        return int(file.read().split()[2]) * SECTOR


def figure(group, name):
    with open(os.path.join(group, name)) as file:
        return file.read()


def limit_cache(group, room):
    """Bounds the page cache of a group, whatever else of its memory its processes and the kernel take."""
    one = os.path.exists(os.path.join(group, "memory.max"))
    names = ("memory.max", "memory.current", "file") if one else ("memory.limit_in_bytes", "memory.usage_in_bytes", "cache")
    held = dict(line.split() for line in figure(group, "memory.stat").splitlines())
    with open(os.path.join(group, names[0]), "w") as file:
        file.write(str(room + max(0, int(figure(group, names[1])) - int(held[names[2]]))))


def load(name, number, root, names, disk, batch, compute, workers, epochs, room, *groups):
    """A training but for what it computes: its accelerator takes the same time for each batch."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Files(Dataset):
        """Whole files; what a decoder would make of them is small."""

        paths = [os.path.join(root, line.rstrip("\n")) for line in open(names)]

        def __len__(self):
            return len(self.paths)

        def __getitem__(self, index):
            with open(self.paths[index], "rb") as file:
                data = file.read()
            return torch.tensor([index, len(data), data[len(data) // 2]])

    def join(_):
        for group in groups:
            with open(os.path.join(group, "cgroup.procs"), "w") as file:
                file.write(str(os.getpid()))

    generator = torch.Generator()
    generator.manual_seed(int(number))
    loader = DataLoader(
        Files(),
        batch_size=int(batch),
        shuffle=True,
        drop_last=True,
        num_workers=int(workers),
        persistent_workers=True,
        worker_init_fn=join,
        generator=generator,
    )
    figures = []
    for _ in range(int(epochs)):
        fetched, begin, first = origin_bytes(disk), time.monotonic(), None
        for _ in loader:
            time.sleep(float(compute))
            if first is None:
                first = time.monotonic()
                if int(room):
                    limit_cache(groups[-1], int(room))
        end = time.monotonic()
        figures.append(
            {
                "au": (len(loader) - 1) * float(compute) / (end - first),
                "seconds": end - begin,
                "origin_mb": (origin_bytes(disk) - fetched) / 1e6,
            }
        )
    print(json.dumps({"name": name, "torch": torch.__version__, "epochs": figures}))


def epoch(figures):
    """An epoch in words."""
    return f"AU {100 * figures['au']:.0f} %, {figures['seconds']:.1f} s, {figures['origin_mb']:.0f} MB read"


def line():
    run = json.load(sys.stdin)
    first, *later = run["epochs"]
    print(f"{run['name']:13}  epoch 1: {epoch(first)};  later: {epoch(medians(later))}", flush=True)


def medians(epochs):
    return {key: statistics.median(each[key] for each in epochs) for key in epochs[0]}


def rows(runs):
    """For each way to read the medians of epoch 1 and of the others, over all rounds."""
    for name in dict.fromkeys(run["name"] for run in runs):
        rounds = [run["epochs"] for run in runs if run["name"] == name]
        first = medians([epochs[0] for epochs in rounds])
        later = medians([each for epochs in rounds for each in epochs[1:]])
        yield name, first, later


def cells(figures):
    return f"{100 * figures['au']:.0f} % | {figures['seconds']:.1f} s"


def markdown(experiments):
    """The table, one part for each dataset."""
    lines = [
        "| | AU, epoch 1 | its time | AU from epoch 2 on | time of an epoch | read from the origin in it |",
        "|---|---|---|---|---|---|",
    ]
    for each in experiments:
        lines.append(f"| **{each['files']:,} files of {each['size'] / 1000:,.0f} kB** | | | | | |")
        for name, first, later in rows(each["runs"]):
            room = "" if name == "all in memory" else f", room for {each['share']} %"
            lines.append(
                f"| {name}{room} | {cells(first)} | {cells(later)} | {later['origin_mb']:,.0f} MB |"
            )
    return "\n".join(lines) + "\n"


def ratios(runs):
    """Holdfast by page cache, of rounds that read in the same orders."""
    own, other = ([run for run in runs if run["name"] == name] for name in ("Holdfast", "page cache"))
    pairs = [(medians(one["epochs"][1:]), medians(two["epochs"][1:])) for one, two in zip(own, other)]
    for key, what in (("au", "AU"), ("seconds", "seconds"), ("origin_mb", "read from the origin")):
        print(f"{what}, Holdfast / page cache: {statistics.median(a[key] / b[key] for a, b in pairs):.2f}")


def table(files, size, share, rate, demand, batch, workers, runs, record=None, readme=None):
    with open(runs) as file:
        runs = [json.loads(text) for text in file]
    names = ("files", "size", "share", "rate", "demand", "batch", "workers")
    values = map(int, (files, size, share, rate, demand, batch, workers))
    experiment = {**dict(zip(names, values)), "runs": runs}
    print(markdown([experiment]))
    ratios(runs)
    if record:
        keep(experiment, record, readme)


def keep(experiment, record, readme):
    """In the place of what was measured of such a dataset before."""
    experiments = []
    if os.path.exists(record):
        with open(record) as file:
            experiments = json.load(file)
    experiments = [each for each in experiments if each["size"] != experiment["size"]]
    experiments = sorted([*experiments, experiment], key=lambda each: each["size"])
    with open(record, "w") as file:
        json.dump(experiments, file, indent=1)
        file.write("\n")
    with open(readme) as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    with open(readme, "w") as file:
        file.write(before + BEGIN + markdown(experiments) + END + after)


if __name__ == "__main__":
    {"load": load, "line": line, "table": table}[sys.argv[1]](*sys.argv[2:])
