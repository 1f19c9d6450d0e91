"""Ranks that finish each step together, each with workers that read its batches, as a data-parallel training.

balance.py DIRECTORY MODE STEPS RATE    RATE: the origin's megabytes a second
  MODE: rank    the files of one rank are three times as large as those of the others
        step    in each step another rank has the large files
        file    each file is large or small, by chance
Prints the time of a step over that in which the origin can send its bytes.
"""

import multiprocessing
import os
import random
import statistics
import sys
import threading
import time

RANKS = 4
WORKERS = 2
BATCH = 8
AHEAD = 2
SEED = 7


def lists(mode, steps, names):
    """Returns the files of each rank and step: large ones are those of 300,000 bytes."""
    large, small = [name for name, size in names if size > 200_000], [name for name, size in names if size < 200_000]
    draw = random.Random(SEED)
    draw.shuffle(large)
    draw.shuffle(small)
    plan = [[] for _ in range(RANKS)]
    for step in range(steps):
        heavy = 0 if mode == "rank" else draw.randrange(RANKS)
        for rank in range(RANKS):
            batch = []
            for _ in range(BATCH):
                pile = draw.choice((large, small)) if mode == "file" else large if rank == heavy else small
                batch.append(pile.pop())
            plan[rank].append(batch)
    return plan


def read(path):
    descriptor = os.open(path, os.O_RDONLY)
    size = 0
    try:
        while count := len(os.read(descriptor, 1 << 20)):
            size += count
    finally:
        os.close(descriptor)
    return size


def rank(directory, batches, barrier, results):
    """A worker reads a whole batch, and is AHEAD of the rank's step by so many batches each."""
    done = {}
    changed = threading.Condition()
    step = 0

    def work(worker):
        for index in range(worker, len(batches), WORKERS):
            with changed:
                changed.wait_for(lambda: index < step + WORKERS * AHEAD)
            size = sum(read(os.path.join(directory, name)) for name in batches[index])
            with changed:
                done[index] = size
                changed.notify_all()

    barrier.wait()
    for worker in range(WORKERS):
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    ends = []
    for index in range(len(batches)):
        with changed:
            changed.wait_for(lambda: index in done)
            step = index + 1
            changed.notify_all()
        barrier.wait()
        ends.append((time.monotonic(), done.pop(index)))
    results.put(ends)


def main(directory, mode, steps, rate):
    names = [(entry.name, entry.stat().st_size) for entry in os.scandir(directory)]
    barrier, results = multiprocessing.Barrier(RANKS), multiprocessing.Queue()
    plan = lists(mode, steps, sorted(names))
    ranks = [multiprocessing.Process(target=rank, args=(directory, plan[each], barrier, results)) for each in range(RANKS)]
    for each in ranks:
        each.start()
    ends = [results.get() for _ in ranks]
    for each in ranks:
        each.join()
    # the first tenth is not counted: the workers get ahead in it
    first = steps // 10
    seconds = ends[0][-1][0] - ends[0][first][0]
    size = sum(size for each in ends for _, size in each[first + 1 :])
    times = [after[0] - before[0] for before, after in zip(ends[0][first:], ends[0][first + 1 :])]
    ideal = size / rate / 1e6
    print(
        f"{seconds / ideal:.3f} of the ideal {1000 * ideal / (steps - 1 - first):.0f} ms a step"
        f" (median {1000 * statistics.median(times):.0f}, longest {1000 * max(times):.0f} ms)"
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
