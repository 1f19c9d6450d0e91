"""usage: swaps.py SEED SECONDS ORIGIN MOUNT

Directories change places at ORIGIN all the time, while several processes walk through them at MOUNT,
and the mount's directory is refreshed by whoever calls this. Ends with 1 when a walker does not come
to its end.
"""

import os
import random
import sys
import time

NAMES = ("a", "b", "c")
WALKERS = 6
GRACE = 20


def forked(body):
    """Runs a function in a process of its own."""
    pid = os.fork()
    if pid == 0:
        body()
        os._exit(0)
    return pid


def fill(origin):
    """Makes directories that have the same names in them."""
    for name in NAMES:
        os.makedirs(os.path.join(origin, name, "d/e"))
        for i in range(4):
            for inner in ("g%d", "d/e/f%d"):
                with open(os.path.join(origin, name, inner % i), "w", encoding="ascii") as file:
                    file.write(name * (1 + i))


def swap(chance, origin, until):
    """Has two of the directories change places, again and again."""
    aside = os.path.join(origin, ".aside")
    while time.monotonic() < until:
        one, other = (os.path.join(origin, name) for name in chance.sample(NAMES, 2))
        os.rename(one, aside)
        os.rename(other, one)
        os.rename(aside, other)
        if chance.random() < 0.3:
            os.chmod(one, chance.choice((0o755, 0o711)))
        time.sleep(chance.random() / 100)


def walk(chance, mount, until):
    """Looks at what is in them, which may be gone."""
    paths = ["%s", "%s/d", "%s/d/e"] + ["%%s/g%d" % i for i in range(5)] + ["%%s/d/e/f%d" % i for i in range(5)]
    while time.monotonic() < until:
        path = os.path.join(mount, chance.choice(paths) % chance.choice(NAMES))
        try:
            if chance.random() < 0.5:
                os.stat(path)
            elif path[-1].isdigit():
                with open(path, "rb") as file:
                    file.read()
            else:
                os.listdir(path)
        except OSError:
            pass


def main():
    """Swaps and walks."""
    seed, seconds, origin, mount = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4]
    fill(origin)
    until = time.monotonic() + seconds
    left = {forked(lambda: swap(random.Random(seed), origin, until))}
    for i in range(WALKERS):
        left.add(forked(lambda: walk(random.Random(seed + 1 + i), mount, until)))
    while left and time.monotonic() < until + GRACE:
        left -= {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0]}
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, 9)
    if left:
        sys.exit("seed %d: %d of %d processes did not come to their end" % (seed, len(left), WALKERS + 1))


if __name__ == "__main__":
    main()
