"""usage: names.py NAME ORIGIN MOUNT SECONDS

Makes names, looks at them through the mount, and removes them, as a user without rights; and samples what
the daemon of that name holds.
"""

import contextlib
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import traceback

from collections import deque

USER = 65534
SAMPLES = 12
# The most growth after the first quarter, in bytes: the collector takes its time, and tables grow in steps.
BOUNDS = {"anonymous": 96 << 20, "heap": 24 << 20, "run": 8 << 20}
KEPT = 500
LONGEST = [0.0]


def plain(origin, mount, number):
    """Creates, looks, unlinks."""
    path = "f%d" % number
    make(origin / path)
    look(mount / path)
    os.unlink(origin / path)


def kept(origin, mount, number, waiting=deque()):
    """One of 50 stays for a while."""
    path = "k%d" % number
    make(origin / path)
    look(mount / path)
    if number % 50:
        os.unlink(origin / path)
        return
    waiting.append(path)
    if len(waiting) > KEPT:
        os.unlink(origin / waiting.popleft())


def moved(origin, mount, number):
    """A directory with a file, both of which get other names."""
    old, new = "d%d" % number, "e%d" % number
    os.mkdir(origin / old)
    make(origin / old / "a")
    look(mount / old / "a")
    os.rename(origin / old / "a", origin / old / "b")
    os.rename(origin / old, origin / new)
    look(mount / new / "b")
    os.listdir(mount / new)
    os.unlink(origin / new / "b")
    os.rmdir(origin / new)


def linked(origin, mount, number):
    """Two names of one file, with modes that change, and a name that was never there."""
    first, second = "l%d" % number, "m%d" % number
    make(origin / first)
    os.link(origin / first, origin / second)
    os.chmod(origin / first, 0o600 + number % 64)
    look(mount / second)
    look(mount / first)
    look(mount / ("none%d" % number))
    os.unlink(origin / first)
    os.unlink(origin / second)


WAYS = (plain, kept, moved, linked)


def make(path):
    """Makes a small file."""
    path.write_bytes(b"x" * 100)


def look(path):
    """Stats it, and remembers the longest time that took."""
    begun = time.monotonic()
    with contextlib.suppress(FileNotFoundError, PermissionError):
        os.stat(path)
    LONGEST[0] = max(LONGEST[0], time.monotonic() - begun)


def work(way, origin, mount, until, out):
    """Goes one way, as the user, and tells how often."""
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    number = 0
    while time.monotonic() < until:
        for _ in range(50):
            way(origin, mount, number)
            number += 1
        read_one(origin, mount, "%s%d" % (way.__name__, number))
        os.write(out, b"." * 50)
    print("%s: the longest stat took %.3f s" % (way.__name__, LONGEST[0]), flush=True)


def read_one(origin, mount, name):
    """Creates, reads, unlinks. What was just written is read a little later, so only some are."""
    if int(name.lstrip("abcdefghijklmnopqrstuvwxyz")) % 2000 == 0:
        make(origin / name)
        (mount / name).read_bytes()
        os.unlink(origin / name)


class Daemon:
    """What a daemon holds."""

    def __init__(self, name):
        self.run = pathlib.Path("/run/holdfast")
        self.name = name
        self.pid = int((self.run / (name + ".pid")).read_text().split()[0])

    def holds(self):
        """Returns its figures, after a collection."""
        subprocess.run(["jcmd", str(self.pid), "GC.run"], check=True, stdout=subprocess.DEVNULL)
        heap = subprocess.run(["jcmd", str(self.pid), "GC.heap_info"], check=True, capture_output=True, text=True).stdout
        used = re.findall(r"generation +total \d+K, used (\d+)K", heap)
        status = pathlib.Path("/proc/%d/status" % self.pid).read_text()
        files = [path.lstat() for path in (self.run / (self.name + ".state")).rglob("*")]
        with socket.socket(socket.AF_UNIX) as channel:
            channel.connect(str(self.run / (self.name + ".sock")))
            channel.sendall(b'{"command":"stats"}\n')
            stats = json.loads(channel.makefile().readline())
        return {
            "anonymous": int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) << 10,
            "heap": sum(int(each) for each in used) << 10,
            "run": sum(each.st_blocks * 512 for each in files),
            "names": names_known(stats),
        }


def names_known(stats):
    """Returns how many nodes the daemon knows, where it tells."""
    found = []

    def search(value, path):
        if isinstance(value, dict):
            for key, each in value.items():
                search(each, path + "." + key)
        elif isinstance(value, int) and re.search(r"\.(nodes|names)(\.known|\.live|\.count|_known)?$", path):
            found.append(value)

    search(stats, "")
    return max(found, default=0)


def main():
    """Runs, and prints a table."""
    name, origin, mount, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4])
    daemon = Daemon(name)
    until = time.monotonic() + seconds
    source, sink = os.pipe()
    children = []
    for way in WAYS:
        children.append(os.fork())
        if children[-1] == 0:
            status = 1
            try:
                work(way, origin, mount, until, sink)
                status = 0
            except OSError:
                traceback.print_exc()
            finally:
                os._exit(status)
    os.close(sink)
    os.set_blocking(source, False)
    samples, made = [], 0
    print("%8s %12s %12s %12s %12s %10s" % ("seconds", "made", "anonymous", "heap", "run", "names"))
    for step in range(1, SAMPLES + 1):
        due = until - seconds + seconds * step / SAMPLES
        while time.monotonic() < due:
            with contextlib.suppress(BlockingIOError):
                made += len(os.read(source, 1 << 20))
            time.sleep(0.05)
        holds = daemon.holds()
        samples.append(holds)
        row = (seconds * step / SAMPLES, made, holds["anonymous"], holds["heap"], holds["run"], holds["names"])
        print("%8.0f %12d %12d %12d %12d %10d" % row, flush=True)
    ends = [os.waitpid(child, 0)[1] for child in children]
    grown = {what: samples[-1][what] - samples[SAMPLES // 4 - 1][what] for what in BOUNDS}
    print("after the first quarter: %s" % ", ".join("%s %+d (at most %d)" % (w, g, BOUNDS[w]) for w, g in grown.items()))
    if any(ends) or any(grown[what] > bound for what, bound in BOUNDS.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()
