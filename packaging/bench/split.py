"""A job whose bottleneck is known, and what Holdfast said of it.

split.py job KIND WORKERS EPOCHS WORK CONSUME ROOT NAMES [LOADER]
split.py row TITLE KIND WORKERS TIMES STATS JOB
split.py table ROWS

"job" reads the files below ROOT that NAMES lists, in each epoch in a new order, in so many worker processes. For each
file a worker works WORK seconds of CPU time; the job takes CONSUME seconds for each file that it gets, and the queue
between has room for two files a worker. LOADER is "multiprocessing", or "torch" for PyTorch's DataLoader with
persistent workers. "job" prints a line of JSON for each epoch: the seconds that all workers together read, worked and
did neither, by their own timers.

"row" compares the last epoch with the figures of the job in STATS, the output of "holdfast stats --json", and prints a
line of JSON; beside them, the shares of the epoch in which at least one read waited, and in which processors rested.
"table" shows all rows of a file, and fails if a job was classified wrong or a share is off by more than ten points.
"""

import hashlib
import json
import multiprocessing
import os
import random
import sys
import time

KINDS = {"fetch": "storage", "cpu": "preparation", "consumer": "accelerator"}
FETCH, WORK, REST = "fetch", "preparation", "back_pressure"
POINTS = 10


def rounds_for(seconds, data):
    """How many times to hash the data, so that it takes so many seconds of CPU time."""
    if not seconds:
        return 0
    hash_it(data, 3)
    began = time.process_time()
    hash_it(data, 20)
    return max(1, round(seconds / ((time.process_time() - began) / 20)))


def hash_it(data, rounds):
    for _ in range(rounds):
        hashlib.sha256(data).digest()


class Timers:
    """What a worker does, by the clock on the wall."""

    def __init__(self):
        self.read = self.work = 0.0

    def file(self, path, rounds):
        began = time.monotonic()
        with open(path, "rb") as file:
            data = file.read()
        got = time.monotonic()
        hash_it(data, rounds)
        self.read += got - began
        self.work += time.monotonic() - got
        return len(data)


def ordered(paths, epoch):
    order = list(paths)
    random.Random(epoch).shuffle(order)
    return order


def worker(number, workers, epochs, rounds, paths, barrier, queue, results):
    for epoch in range(epochs):
        barrier.wait()
        timers, began = Timers(), time.monotonic()
        for path in ordered(paths, epoch)[number::workers]:
            queue.put(timers.file(path, rounds))
        results.put((epoch, timers.read, timers.work, time.monotonic() - began))


def with_multiprocessing(workers, epochs, rounds, consume, paths):
    barrier = multiprocessing.Barrier(workers)
    queue, results = multiprocessing.Queue(2 * workers), multiprocessing.Queue()
    arguments = (workers, epochs, rounds, paths, barrier, queue, results)
    started = [multiprocessing.Process(target=worker, args=(n, *arguments)) for n in range(workers)]
    for each in started:
        each.start()
    for _ in range(epochs * len(paths)):
        queue.get()
        time.sleep(consume)
    figures = [results.get() for _ in range(epochs * workers)]
    for each in started:
        each.join()
    return [sums(each[1:] for each in figures if each[0] == epoch) for epoch in range(epochs)]


def sums(figures):
    return [sum(each) for each in zip(*figures)]


def with_torch(workers, epochs, rounds, consume, paths):
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Files(Dataset):
        def __init__(self):
            self.timers = Timers()

        def __len__(self):
            return len(paths)

        def __getitem__(self, index):
            self.timers.file(paths[index], rounds)
            return torch.tensor([os.getpid(), self.timers.read, self.timers.work], dtype=torch.float64)

    loader = DataLoader(Files(), batch_size=4, shuffle=True, num_workers=workers, persistent_workers=True)
    before, figures = {}, []
    for _ in range(epochs):
        began, now = time.monotonic(), dict(before)
        for batch in loader:
            for pid, read, work in batch.tolist():
                now[pid] = (max(read, now.get(pid, (0, 0))[0]), max(work, now.get(pid, (0, 0))[1]))
            time.sleep(consume * len(batch))
        lived = (time.monotonic() - began) * workers
        figures.append([*(sum(each) for each in zip(*now.values())), lived])
        if before:
            old = [sum(each) for each in zip(*before.values())]
            figures[-1][:2] = [a - b for a, b in zip(figures[-1][:2], old)]
        before = now
    return figures


def job(kind, workers, epochs, work, consume, root, names, loader="multiprocessing"):
    with open(names) as file:
        paths = [os.path.join(root, line.rstrip("\n")) for line in file]
    with open(paths[0], "rb") as file:
        rounds = rounds_for(float(work), file.read())
    run = {"multiprocessing": with_multiprocessing, "torch": with_torch}[loader]
    for read, worked, lived in run(int(workers), int(epochs), rounds, float(consume), paths):
        print(json.dumps({FETCH: read, WORK: worked, REST: lived - read - worked}))


def row(title, kind, workers, times, stats, name):
    with open(times) as file:
        timed = json.loads(file.read().splitlines()[-1])
    with open(stats) as file:
        told = next(each for each in json.load(file)["jobs"]["jobs"] if each["job"] == name)
    last = told["epochs"][-1]
    shares = last.get("shares", {})
    all_of_it = sum(timed.values())
    print(
        json.dumps(
            {
                "title": title,
                "kind": kind,
                "workers": int(workers),
                "verdict": told["verdict"],
                "reason": told["reason"],
                "epoch": last["epoch"],
                "readers": last["readers"],
                "waits": last["fetching_seconds"] / last["seconds"],
                "rests": last["processor_idle_seconds"] / last["processor_seconds"],
                "timed": {key: value / all_of_it for key, value in timed.items()},
                "told": {
                    FETCH: shares.get("fetch_origin", 0) + shares.get("fetch_peer", 0),
                    WORK: shares.get("preparation", 0),
                    REST: shares.get("back_pressure", 0),
                },
            }
        )
    )


def table(rows):
    with open(rows) as file:
        rows = [json.loads(line) for line in file]
    print(f"{'job':30} {'workers':>7}  {'verdict':12}  fetch  prep.   rest   by its timers           waits  rests  off by")
    failed = 0
    for each in rows:
        timed, told = each["timed"], each["told"]
        off = max(abs(timed[key] - told[key]) for key in timed) * 100
        wrong = each["verdict"] != KINDS[each["kind"]]
        failed += wrong or off > POINTS
        print(
            f"{each['title']:30} {each['workers']:7}  {each['verdict']:12}"
            + "".join(f" {100 * told[key]:4.0f} %" for key in (FETCH, WORK, REST))
            + "  "
            + "".join(f" {100 * timed[key]:4.0f} %" for key in (FETCH, WORK, REST))
            + "  "
            + "".join(f" {100 * each[key]:4.0f} %" for key in ("waits", "rests"))
            + f"  {off:6.1f} points{'  WRONG' if wrong else ''}{'  TOO MUCH' if off > POINTS else ''}"
        )
    print(f"{len(rows)} jobs, {failed} wrong, or off by more than {POINTS} points")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    {"job": job, "row": row, "table": table}[sys.argv[1]](*sys.argv[2:])
