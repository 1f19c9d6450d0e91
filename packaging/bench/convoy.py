"""Runs jobs that read all files of a mount in orders of a seed and an epoch, and tells what the origin was asked for.

convoy.py MOUNT NAMES HOLDFAST MOUNT_NAME DATASET_BYTES [jobs=N] [epochs=N] [seeds=N] [scatter=SECONDS]
          [what=stop|kill|slow] [told=others] [loader=torch]

Each job is a process with two threads, or PyTorch's DataLoader with two workers and batches of 8. The bytes of an epoch are those from the first job's beginning of it to the last
one's end of the epoch, shared out at the moment when half of the jobs have begun the next one.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

READERS = 2
BATCH = 8


def read(path):
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while os.read(descriptor, 1 << 20):
            pass
    finally:
        os.close(descriptor)


def read_epoch(directory, names, pause):
    """Reads the files in order, on some threads; sleeps pause(seconds of the read) after each."""
    lock = threading.Lock()
    left = iter(names)

    def work():
        while True:
            with lock:
                name = next(left, None)
            if name is None:
                return
            began = time.monotonic()
            read(os.path.join(directory, name))
            time.sleep(pause(time.monotonic() - began))

    threads = [threading.Thread(target=work) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def torch_job(directory, path, seed, epochs):
    """The same in PyTorch's own order of a seed and an epoch."""
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Files(Dataset):
        def __init__(self):
            with open(path) as lines:
                self.names = sorted(lines.read().splitlines())

        def __len__(self):
            return len(self.names)

        def __getitem__(self, index):
            read(os.path.join(directory, self.names[index]))
            return index

    generator = torch.Generator()
    loader = DataLoader(Files(), batch_size=BATCH, shuffle=True, num_workers=READERS, generator=generator)
    for epoch in range(epochs):
        generator.manual_seed(1000 * seed + epoch)
        for _ in loader:
            pass
        print("end", epoch, flush=True)


def job(directory, path, seed, epochs, slow_from):
    """A job: says on its output when each epoch has ended."""
    with open(path) as lines:
        names = sorted(lines.read().splitlines())
    for epoch in range(epochs):
        order = list(names)
        random.Random(f"{seed} {epoch}").shuffle(order)
        slow = epoch >= slow_from
        # nine tenths of the time asleep, and a pause for files that are there at once
        read_epoch(directory, order, lambda seconds: 9 * max(seconds, 0.005) if slow else 0.001)
        print("end", epoch, flush=True)


def bytes_of_origin(holdfast, mount):
    told = subprocess.run([holdfast, "stats", mount, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(told)["fetches"]["origin"]["bytes"]


class Job:
    def __init__(self, number, loader, directory, path, seed, epochs, slow_from):
        self.number = number
        self.began = time.monotonic()
        self.ends = []
        self.process = subprocess.Popen(
            [sys.executable, "-B", __file__, loader, directory, path, str(seed), str(epochs), str(slow_from)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "CONVOY_JOB": f"job{number}"},
        )
        self.reader = threading.Thread(target=self.follow)
        self.reader.start()

    def follow(self):
        for _ in self.process.stdout:
            self.ends.append(time.monotonic())

    def seconds(self, epoch):
        return self.ends[epoch] - (self.ends[epoch - 1] if epoch > 0 else self.began)


def main(directory, path, holdfast, mount, dataset, words):
    options = dict(word.split("=") for word in words)
    count = int(options.get("jobs", 8))
    epochs = int(options.get("epochs", 3))
    seeds = int(options.get("seeds", 1))
    scatter = float(options.get("scatter", 0))
    what = options.get("what", "")
    loader = options.get("loader", "threads")
    random_starts = random.Random(1)
    starts = sorted([0.0] + [random_starts.uniform(0, scatter) for _ in range(count - 2)] + [scatter])
    began = time.monotonic()
    jobs = []
    for number in range(count):
        time.sleep(max(0, began + starts[number] - time.monotonic()))
        slow_from = 1 if what == "slow" and number == 0 else epochs
        jobs.append(Job(number, loader, directory, path, number % seeds, epochs, slow_from))
    others = jobs[1:] if options.get("told") == "others" else jobs
    fetched = [0]
    for epoch in range(epochs):
        if epoch == 1 and what in ("stop", "kill"):
            time.sleep(1)
            jobs[0].process.send_signal(signal.SIGSTOP if what == "stop" else signal.SIGKILL)
        while sum(len(each.ends) > epoch for each in others) < (len(others) + 1) // 2:
            time.sleep(0.02)
        if epoch + 1 == epochs:
            while not all(len(each.ends) > epoch for each in others):
                time.sleep(0.02)
        fetched.append(bytes_of_origin(holdfast, mount))
    if others is not jobs:
        jobs[0].process.kill()
    for each in jobs:
        each.process.wait()
        each.reader.join()
    parts = [f"{(after - before) / dataset:6.3f}" for before, after in zip(fetched, fetched[1:])]
    if others is not jobs:
        times = sorted(each.seconds(epochs - 1) for each in others)
    else:
        times = sorted(each.ends[-1] - each.began for each in jobs)
    print(" ".join(parts), f"  {times[-1]:6.1f} {times[0]:6.1f}")


if __name__ == "__main__":
    if sys.argv[1] == "torch":
        torch_job(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    elif sys.argv[1] == "threads":
        job(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
    else:
        main(*sys.argv[1:5], int(sys.argv[5]), sys.argv[6:])
