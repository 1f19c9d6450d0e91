"""A job that reads again and again at the rate of whoever takes what it has read, and how fast it was.

allocate.py job ROOT NAMES WORKERS RATE
allocate.py now
allocate.py wait TIMES FROM EPOCHS
allocate.py line NAME PROPOSAL EQUAL PROPOSED

"job" reads all files in each epoch, in a new random order, in workers that are a few files ahead, and takes them at
RATE megabytes a second at most. It says when each epoch began, and how many bytes a second it read. "wait" prints the
median speed of epochs that began after a moment, but for the first, once there are so many.
"""

import json
import multiprocessing
import os
import random
import signal
import statistics
import sys
import time

AHEAD = 4

# A process that slept too long makes up for it.
SLACK = 0.05
LONGEST_WAIT = 300


def work(tasks, results):
    for path in iter(tasks.get, None):
        with open(path, "rb", buffering=0) as file:
            results.put(len(file.read()))


def job(root, names, workers, rate):
    with open(names) as file:
        paths = [os.path.join(root, line.rstrip("\n")) for line in file]
    order = random.Random(1)
    tasks, results = multiprocessing.SimpleQueue(), multiprocessing.SimpleQueue()
    for _ in range(int(workers)):
        multiprocessing.Process(target=work, args=(tasks, results), daemon=True).start()
    ahead = AHEAD * int(workers)
    per_byte = 1 / (float(rate) * 1e6)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    free = time.monotonic()
    while True:
        order.shuffle(paths)
        begin = time.monotonic()
        for path in paths[:ahead]:
            tasks.put(path)
        total = 0
        for number in range(len(paths)):
            size = results.get()
            total += size
            # the accelerator takes the next file when it is done with the one before
            free = max(free, time.monotonic() - SLACK) + size * per_byte
            time.sleep(max(0, free - time.monotonic()))
            if number + ahead < len(paths):
                tasks.put(paths[number + ahead])
        print(begin, total / (time.monotonic() - begin), flush=True)


def wait(times, start, epochs):
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        with open(times) as file:
            rows = [line.split() for line in file if line.endswith("\n")]
        speeds = [float(speed) for begin, speed in rows if float(begin) >= float(start)]
        if len(speeds) >= int(epochs):
            print(f"{statistics.median(speeds[1:]) / 1e6:.1f}")
            return
        time.sleep(0.1)
    sys.exit(f"no {epochs} epochs in {LONGEST_WAIT} s")


def line(name, proposal, equal, proposed):
    with open(proposal) as file:
        mounts = json.load(file)["mounts"]
    mount = next((each for each in mounts if each["name"] == name), None)
    if mount is None:
        print(f"{name}: left as it is")
        return
    for when, key, measured in (("equal", "speed_now", equal), ("proposed", "speed_proposed", proposed)):
        with open(measured) as file:
            speed = float(file.read())
        predicted = mount[key] / 1e6
        print(f"{name}, {when}: predicted {predicted:.1f} MB/s, measured {speed:.1f}, ratio {predicted / speed:.3f}")


if __name__ == "__main__":
    {"job": job, "now": lambda: print(time.monotonic()), "wait": wait, "line": line}[sys.argv[1]](*sys.argv[2:])
