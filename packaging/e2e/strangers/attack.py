"""What strangers send to a node's two ports, until standard input ends.

    attack.py IDLE SEED HOST:PORT...

All kinds at once, on every port, each from a thread of its own: random bytes, requests that stop
half way, headers that come a byte a second, headers without end (up to 1 GB each), and IDLE
connections in all that say nothing, opened again when the node has closed them. Prints what the
node let happen.
"""

import collections
import random
import resource
import select
import socket
import sys
import threading
import time

GIGABYTE = 1_000_000_000
PIECE = 1 << 16
PATIENCE_SECONDS = 1
OTHER_DESCRIPTORS = 2000
REQUEST = (
    b"GET /v1/datasets/photos/items/data/1?extent=0 HTTP/1.1\r\n"
    b"Host: holdfast\r\nConnection: keep-alive\r\nIf-Match: \"1-2-3\"\r\n\r\n"
)


class Attack:
    def __init__(self, idle, seed, targets):
        self.idle = idle
        self.seed = seed
        self.targets = targets
        self.ended = threading.Event()
        self.counts = collections.Counter()
        self.lock = threading.Lock()

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def connect(self, target):
        """A connection, or None when the node takes none just now."""
        try:
            return socket.create_connection(target, timeout=PATIENCE_SECONDS)
        except OSError:
            self.count("connections not taken")
            self.ended.wait(0.01)
            return None

    def random_bytes(self, link, chance):
        """As many as the node takes, 1 MB at most."""
        self.count("random bytes: connections")
        size = chance.choice((1, 10, 100, 1000, 1_000_000))
        sent = self.pour(link, chance.randbytes(size))
        self.count("random bytes: bytes", sent)

    def half_request(self, link, chance):
        """The beginning of a request, and then nothing until the node closes."""
        self.count("half requests: connections")
        self.pour(link, REQUEST[: chance.randrange(1, len(REQUEST))])
        self.await_close(link, "half requests: ended by the node")

    def slow_header(self, link, chance):
        """A byte a second."""
        self.count("slow headers: connections")
        for byte in REQUEST:
            if self.ended.wait(1) or not self.pour(link, bytes((byte,))):
                break
        else:
            return
        if not self.ended.is_set():
            self.count("slow headers: ended by the node")

    def endless_header(self, link, chance):
        """One header of up to 1 GB."""
        self.count("endless headers: connections")
        if not self.pour(link, b"GET / HTTP/1.1\r\nX-Long: "):
            return
        sent = 0
        piece = b"x" * PIECE
        while sent < GIGABYTE and not self.ended.is_set():
            taken = self.pour(link, piece)
            if not taken:
                self.count("endless headers: ended by the node")
                break
            sent += taken
        self.count("endless headers: bytes", sent)

    def pour(self, link, data):
        """How many bytes the node took: all, or 0 when it has closed."""
        try:
            link.sendall(data)
            return len(data)
        except OSError:
            return 0

    def await_close(self, link, what):
        while not self.ended.is_set():
            try:
                if not link.recv(PIECE):
                    self.count(what)
                    return
            except TimeoutError:
                continue
            except OSError:
                self.count(what)
                return

    def stay_idle(self, target, share):
        """Holds that many connections, for as long as the node lets it."""
        held = {}
        poll = select.epoll()
        most = 0
        while not self.ended.is_set():
            for _ in range(min(200, share - len(held))):
                link = self.connect(target)
                if link is None:
                    break
                held[link.fileno()] = link
                poll.register(link, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLIN)
                self.count("idle: connections")
            most = max(most, len(held))
            for number, _ in poll.poll(0.1):
                poll.unregister(number)
                held.pop(number).close()
                self.count("idle: ended by the node")
        with self.lock:
            self.counts[f"idle: held at once at {target[0]}:{target[1]}"] = most
        for link in held.values():
            link.close()

    def repeat(self, kind, target, number):
        chance = random.Random(f"{self.seed} {kind.__name__} {target} {number}")
        while not self.ended.is_set():
            link = self.connect(target)
            if link is not None:
                with link:
                    kind(link, chance)

    def run(self):
        kinds = {
            self.random_bytes: 2,
            self.half_request: 50,
            self.slow_header: 50,
            self.endless_header: 2,
        }
        threads = [
            threading.Thread(target=self.repeat, args=(kind, target, number))
            for target in self.targets
            for kind, count in kinds.items()
            for number in range(count)
        ]
        threads += [
            threading.Thread(target=self.stay_idle, args=(target, self.idle // len(self.targets)))
            for target in self.targets
        ]
        for each in threads:
            each.start()
        sys.stdin.read()
        self.ended.set()
        for each in threads:
            each.join()
        for what in sorted(self.counts):
            print(f"  {what}: {self.counts[what]:,}")


def main():
    idle, seed = int(sys.argv[1]), sys.argv[2]
    targets = []
    for each in sys.argv[3:]:
        host, port = each.rsplit(":", 1)
        targets.append((host, int(port)))
    descriptors = idle + OTHER_DESCRIPTORS
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, max(descriptors, hard)))
    Attack(idle, seed, targets).run()


main()
