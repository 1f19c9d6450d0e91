"""Reads a list as a loader with four workers does for a consumer of a fixed rate, and prints the speed of each tenth.

fixed-order.py DIRECTORY LIST DEMAND    DEMAND: megabytes a second that the consumer takes when it never waits
"""

import os
import sys
import threading
import time

WORKERS = 4
BATCH = 24
AHEAD = 2 * WORKERS * BATCH


class Loader:
    """Workers that read the files in order, so many ahead of the consumer at most."""

    def __init__(self, directory, names):
        self.directory = directory
        self.names = names
        self.changed = threading.Condition()
        self.taken = 0
        self.consumed = 0
        self.sizes = {}

    def work(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.taken < self.consumed + AHEAD)
                if self.taken >= len(self.names):
                    return
                index = self.taken
                self.taken += 1
            size = self.read(self.names[index])
            with self.changed:
                self.sizes[index] = size
                self.changed.notify_all()

    def read(self, name):
        size = 0
        descriptor = os.open(os.path.join(self.directory, name), os.O_RDONLY)
        try:
            while read := len(os.read(descriptor, 1 << 20)):
                size += read
        finally:
            os.close(descriptor)
        return size

    def take(self, index):
        with self.changed:
            self.changed.wait_for(lambda: index in self.sizes)
            self.consumed = index + 1
            self.changed.notify_all()
            return self.sizes.pop(index)


def main(directory, path, demand):
    with open(path) as lines:
        names = lines.read().splitlines()
    loader = Loader(directory, names)
    threads = [threading.Thread(target=loader.work, daemon=True) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    speeds = []
    # the first tenth begins when the workers are ahead, as an epoch of a training does after its first batch
    loader.take(0)
    began = free = time.monotonic()
    size = 0
    for index in range(1, len(names)):
        read = loader.take(index)
        size += read
        # the consumer is busy with a file for its time, and never catches up on what it waited
        free = max(free, time.monotonic()) + read / demand / 1e6
        if (index + 1) * 10 // len(names) > index * 10 // len(names):
            time.sleep(max(0, free - time.monotonic()))
            speeds.append(size / (free - began) / 1e6)
            began, size = free, 0
        elif free - time.monotonic() > 0.002:
            time.sleep(free - time.monotonic())
    print(" ".join(f"{speed:5.0f}" for speed in speeds))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
