"""A training loop that saves as often as it is advised, and what that costs.

train.py HOLDFAST MOUNT PLAIN MEGABYTES ITERATION_MS SAVES first|then

An iteration is a fixed amount of work on one processor, about ITERATION_MS of it. A save writes a new file, closes it and
renames it, as torch.save with a careful caller does. "first" saves once before it counts, so that there is something to
advise by, and also saves to the file PLAIN, to compare with. The same iterations are timed behind each interval,
to compare with: processors are not as fast all the time. Times in which the advice is asked for do not count.
"""

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time

HOLDFAST, MOUNT, PLAIN = sys.argv[1:4]
MEGABYTES, ITERATION, SAVES = int(sys.argv[4]), int(sys.argv[5]) / 1000, int(sys.argv[6])
ALONE = 20
BLOCK = os.urandom(1 << 20)


def rounds_of_an_iteration():
    begin = time.monotonic()
    for _ in range(50):
        hashlib.sha256(BLOCK).digest()
    return max(1, round(ITERATION * 50 / (time.monotonic() - begin)))


def iterate(count, rounds):
    begin = time.monotonic()
    for _ in range(count):
        for _ in range(rounds):
            hashlib.sha256(BLOCK).digest()
    return time.monotonic() - begin


def save(path):
    begin = time.monotonic()
    with open(path + ".new", "wb", buffering=0) as file:
        for _ in range(MEGABYTES):
            file.write(BLOCK[:1000000])
    os.rename(path + ".new", path)
    return time.monotonic() - begin


def wait():
    begin = time.monotonic()
    subprocess.run([HOLDFAST, "checkpoint", "wait", MOUNT], check=True)
    return time.monotonic() - begin


def advised(iteration):
    words = [HOLDFAST, "checkpoint", "advice", "--iteration", f"{iteration * 1000:.0f}ms", "--json", MOUNT]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["interval_iterations"]


def main():
    checkpoint = os.path.join(MOUNT, "checkpoint")
    rounds = rounds_of_an_iteration()
    if sys.argv[7] == "first":
        plain = statistics.median(save(PLAIN) for _ in range(3))
        os.remove(PLAIN)
        print(f"a save to memory or the front's disk: {plain:.2f} s; to the mount: {save(checkpoint):.2f} s", flush=True)
    print(f"until the store has the last save: {wait():.1f} s", flush=True)
    print("an iteration      k  blocked  overhead", flush=True)
    alone = iterate(ALONE, rounds) / ALONE
    for _ in range(SAVES):
        interval = advised(alone)
        blocked = save(checkpoint)
        took = blocked + iterate(interval, rounds)
        before, alone = alone, iterate(ALONE, rounds) / ALONE
        overhead = took / (interval * (before + alone) / 2) - 1
        print(f"{before * 1000:9.0f} ms {interval:6} {blocked:6.2f} s {100 * overhead:6.1f} %", flush=True)


main()
