"""Reads files as the workers of a loader do, and prints what they saw.

orders.py DIRECTORY LIST READERS RATE    RATE: files a second that all readers together want; 0: as many as they can
orders.py shuffle SEED LIST              prints the lines of a list in another order
"""

import os
import random
import sys
import threading
import time


def shuffle(seed, path):
    with open(path) as lines:
        names = lines.read().splitlines()
    random.Random(int(seed)).shuffle(names)
    print("\n".join(names))


class Readers:
    """Threads that take the next file of one list, each at its time."""

    def __init__(self, directory, names, readers, rate):
        self.directory = directory
        self.names = iter(enumerate(names))
        self.count = len(names)
        self.readers = readers
        self.rate = rate
        self.lock = threading.Lock()
        self.opening = 0.0
        self.reading = 0.0
        self.slow = 0
        self.bytes = 0

    def work(self):
        opening, reading, slow, size = 0.0, 0.0, 0, 0
        while True:
            with self.lock:
                index, name = next(self.names, (0, None))
            if name is None:
                break
            if self.rate:
                pause = self.start + index / self.rate - time.monotonic()
                if pause > 0:
                    time.sleep(pause)
            began = time.monotonic()
            descriptor = os.open(os.path.join(self.directory, name), os.O_RDONLY)
            opened = time.monotonic()
            while read := len(os.read(descriptor, 1 << 20)):
                size += read
            ended = time.monotonic()
            os.close(descriptor)
            opening += opened - began
            reading += ended - opened
            slow += ended - began > 0.010
        with self.lock:
            self.opening += opening
            self.reading += reading
            self.slow += slow
            self.bytes += size

    def run(self):
        self.start = time.monotonic()
        threads = [threading.Thread(target=self.work) for _ in range(self.readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - self.start
        share = 100 / seconds / self.readers
        print(
            f"{self.count / seconds:.1f} files/s, {share * self.opening:.1f} % of the time in open and"
            f" {share * self.reading:.1f} % in read, {self.slow} reads of more than 10 ms, {self.bytes} bytes"
        )


if __name__ == "__main__":
    if sys.argv[1] == "shuffle":
        shuffle(*sys.argv[2:])
    else:
        with open(sys.argv[2]) as lines:
            Readers(sys.argv[1], lines.read().splitlines(), int(sys.argv[3]), float(sys.argv[4])).run()
