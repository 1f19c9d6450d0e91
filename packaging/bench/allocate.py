"""A job that reads again and again at the rate of whoever takes what it has read, and how fast it was.

allocate.py job ROOT NAMES WORKERS RATE
allocate.py now
allocate.py wait TIMES FROM EPOCHS
allocate.py line NAME PROPOSAL EQUAL PROPOSED
allocate.py observe SEEN [MOUNT NAMES]...
allocate.py steps WATCHED EVENTS
allocate.py hits NAME MOUNT SEEN FILES BYTES

"job" reads all files in each epoch, in a new random order, in workers that are a few files ahead, and takes them at
RATE megabytes a second at most. It says when each epoch began, and how many bytes a second it read. "wait" prints the
median speed of epochs that began after a moment, but for the first, once there are so many. "observe" writes five
times a second what the mounts tell of themselves, and every five seconds which files are resident, until it is ended. "steps" says how long after each event the memory was
divided anew, and how often mounts turned; "hits" how exact the epochs of a mount were while its capacity was as it was,
and whether its residents then stayed the same.
"""

import json
import multiprocessing
import os
import random
import re
import signal
import statistics
import sys
import time

AHEAD = 4

LOOK_SECONDS = 0.2
LOOKS_OF_RESIDENTS = 25

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


def observe(seen, *mounts_and_names):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    mounts = {}
    for mount, names in zip(mounts_and_names[::2], mounts_and_names[1::2]):
        with open(names) as file:
            mounts[mount] = [os.path.join(mount, line.rstrip("\n")) for line in file]
    looks = 0
    with open(seen, "w") as out:
        while True:
            for mount, paths in mounts.items():
                try:
                    capacity = look(mount, out)
                    if looks % LOOKS_OF_RESIDENTS == 0:
                        resident = [number for number, path in enumerate(paths) if is_resident(path)]
                        # of a capacity that changes meanwhile it says nothing
                        if look(mount, out) == capacity:
                            print(json.dumps([mount, capacity, None, resident]), file=out, flush=True)
                except FileNotFoundError:
                    return  # it is unmounted
            looks += 1
            time.sleep(LOOK_SECONDS)


def look(mount, out):
    with open(os.path.join(mount, ".holdfast", "stats.json")) as file:
        stats = json.load(file)
    capacity = stats["cache"]["capacity_bytes"]
    for each in stats["jobs"]["jobs"]:
        rows = [(row["epoch"], row["opens"], row["misses"]) for row in each["epochs"]]
        print(json.dumps([mount, capacity, each["job"], rows]), file=out, flush=True)
    return capacity


def is_resident(path):
    return os.getxattr(path, "user.holdfast.resident") != b"0"


def seconds(line):
    hours, minutes, rest = line.split(" ", 1)[0].split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)


def steps(watched, events):
    with open(watched) as file:
        said = [line.rstrip("\n") for line in file]
    with open(events) as file:
        happened = [line.rstrip("\n") for line in file]
    made = [line for line in said if line[9:].startswith(("step: ", "back: "))]
    directions, turns = {}, {}
    for line in made:
        for name, old, old_unit, new, new_unit in re.findall(r"(\w+) from ([\d.]+) (\w+) to ([\d.]+) (\w+)", line):
            units = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4}
            turns.setdefault(name, 0)
            if (new, new_unit) == (old, old_unit):
                continue  # by less than is printed
            grows = float(new) * 1024 ** units[new_unit] > float(old) * 1024 ** units[old_unit]
            if directions.setdefault(name, grows) != grows:
                turns[name] += 1
            directions[name] = grows
    for number, event in enumerate(happened):
        end = seconds(happened[number + 1]) if number + 1 < len(happened) else 10**6
        after = [seconds(line) - seconds(event) for line in made if seconds(event) <= seconds(line) < end]
        print(f"{event}: " + (f"{len(after)} steps, {after[0]} to {after[-1]} s later" if after else "no step"))
    print("turns: " + (", ".join(f"{name} {count}" for name, count in sorted(turns.items())) or "no step at all"))


def hits(name, mount, seen, files, size):
    pages = -(-int(size) // 4096) * 4096
    exact = epochs = 0
    capacities, missed = {}, {}
    with open(seen) as file:
        rows = [json.loads(line) for line in file]
    for where, capacity, job, of_job in rows:
        if where != mount or job is None:
            continue
        for number, opens, misses in of_job:
            # what it is while the epoch is read; an epoch has ended once there is one behind it
            if number == of_job[-1][0]:
                capacities.setdefault((job, number), set()).add(capacity)
            elif opens == int(files):
                missed[job, number] = misses
    for (job, number), misses in missed.items():
        before, during = capacities.get((job, number - 1), set()), capacities.get((job, number), set())
        # the one before it has filled the capacity
        if (job, number - 1) in missed and len(before) == 1 and before == during:
            room = max(0, int(files) - next(iter(during)) // pages)
            epochs += 1
            exact += misses == room
            if misses != room:
                print(f"{name}: epoch {number} of {job} has {misses} misses, and room for all but {room} files")
    print(f"{name}: {exact} of {epochs} epochs of an unchanged capacity have exactly its hits")
    residents(name, [row for row in rows if row[0] == mount], int(files), pages)


def residents(name, rows, files, pages):
    looks = same = 0
    known = None
    for _, capacity, job, resident in rows:
        if known and known[0] != capacity:
            known = None
        if job is not None:
            continue
        if known:
            looks += 1
            same += known[1] == resident
            if known[1] != resident:
                other = set(known[1]) ^ set(resident)
                print(f"{name}: {len(resident)} residents at {capacity} bytes, {len(other)} not as before")
        # only a capacity that is filled has residents that stay
        if known or len(resident) == min(files, capacity // pages):
            known = (capacity, resident)
    print(f"{name}: {same} of {looks} looks at a capacity that was unchanged and filled found the residents of the one before")


if __name__ == "__main__":
    commands = {"job": job, "now": lambda: print(time.monotonic()), "wait": wait, "line": line}
    commands |= {"observe": observe, "steps": steps, "hits": hits}
    commands[sys.argv[1]](*sys.argv[2:])
