"""Writes through a checkpoint mount; see packaging/bench/checkpoint/through."""

import os
import random
import subprocess
import sys
import threading
import time

HOLDFAST, NAME, MOUNT, STORE, FRONT, GIGABYTES = *sys.argv[1:6], int(sys.argv[6])
FILE = 1 << 30
PIECE = 1 << 20


def piece(number):
    return random.Random(number).randbytes(4096) * (PIECE // 4096)


def daemon():
    with open(f"/run/holdfast/{NAME}.pid", encoding="utf-8") as file:
        return int(file.readline().split()[0])


class Most:
    """The most that was in use at the looks at it, twice a second."""

    def __init__(self, process):
        self.process = process
        self.daemon = 0
        self.front = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.over.wait(0.5):
            with open(f"/proc/{self.process}/status", encoding="utf-8") as file:
                lines = dict(line.split(":", 1) for line in file)
            self.daemon = max(self.daemon, int(lines["RssAnon"].split()[0]) << 10)
            self.front = max(self.front, taken(FRONT))


def taken(directory):
    """Bytes on the disk of a directory's files, some of which have two names."""
    found = {}
    for path, _, files in os.walk(directory):
        for name in files:
            try:
                stat = os.lstat(os.path.join(path, name))
                found[stat.st_ino] = stat.st_blocks * 512
            except FileNotFoundError:
                pass
    return sum(found.values())


def write(number):
    body = piece(number)
    with open(f"{MOUNT}/{number}", "wb", buffering=0) as file:
        for _ in range(FILE // PIECE):
            file.write(body)


def has_all(number):
    body = piece(number)
    with open(f"{STORE}/{number}", "rb", buffering=0) as file:
        return (all(file.read(PIECE) == body for _ in range(FILE // PIECE))
                and file.read(1) == b"")


def main():
    most = Most(daemon())
    most.thread.start()
    try:
        begun = time.monotonic()
        for number in range(GIGABYTES):
            write(number)
        written = time.monotonic()
        subprocess.run((HOLDFAST, "checkpoint", "wait", "--timeout", "600s", MOUNT), check=True)
        ended = time.monotonic()
    finally:
        most.over.set()
        most.thread.join()
    total = GIGABYTES * FILE
    print(f"{GIGABYTES} GiB: the program wrote {total / (written - begun) / 1e6:.0f} MB/s, and the store had it all"
          f" {ended - written:.1f} s later")
    print(f"most at once: daemon {most.daemon / 1e6:.0f} MB of its own, front {most.front / 1e9:.2f} GB")
    wrong = [number for number in range(GIGABYTES) if not has_all(number)]
    print(f"files that the store does not have: {wrong or 'none'}")
    sys.exit(1 if wrong else 0)


main()
