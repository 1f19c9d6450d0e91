"""What the processes of the suite share: who takes part, clocks, messages, and which names there are."""

import ctypes
import marshal
import mmap
import os
import random
import signal
import struct
import time

from rights import User

ROOT = User(0, 0, ())
USERS = (
    ROOT,
    User(1, 1, ()),  # daemon
    User(4001, 4001, (4101,)),
    User(4002, 4002, (4101, 4102)),
    User(65534, 65534, ()),  # nobody
)
UIDS = tuple(user.uid for user in USERS)
GIDS = (0, 1, 4001, 4002, 4101, 4102, 65534)

DIRECTORIES = ("a", "b", "v", "x", "x.old")
FILES = ("f0", "f1", "f2", "f3", "f4", "g", "h")
LINKS = ("s", "t")
DEPTH = 3
ATTRIBUTE = "user.attack"

_SLOTS, _SLOT = 64, 128
_LENGTH = struct.Struct("<I")
_PR_SET_PDEATHSIG = 1
now = time.monotonic_ns
MILLI = 1_000_000
SECOND = 1000 * MILLI


class Stuck(Exception):
    """The attack cannot go on."""


def become(user):
    """Makes this process one of the user's for good; it ends when the suite does."""
    parent = os.getppid()
    os.setgroups(user.groups)
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def send(descriptor, message):
    """Writes a message, all of it."""
    data = marshal.dumps(message)
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(descriptor, view) :]


class Inbox:
    """The other end of it."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.buffer = bytearray()
        self.ended = False

    def receive(self):
        """Reads what is there, and returns the messages that are complete."""
        data = os.read(self.descriptor, 1 << 18)
        self.ended = not data
        self.buffer += data
        messages, at = [], 0
        while len(self.buffer) >= at + _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self.buffer, at)
            if len(self.buffer) < at + _LENGTH.size + length:
                break
            at += _LENGTH.size
            messages.append(marshal.loads(bytes(self.buffer[at : at + length])))
            at += length
        del self.buffer[:at]
        return messages


class Board:
    """Memory of all processes: which paths were changed last, and whether to end."""

    def __init__(self):
        self.memory = mmap.mmap(-1, _SLOTS * _SLOT + 1)
        self.slot = 0

    def changed(self, path):
        """Writes down a path that was changed."""
        data = path.encode()[: _SLOT - 1]
        at = self.slot % _SLOTS * _SLOT
        self.memory[at : at + 1 + len(data)] = bytes([len(data)]) + data
        self.slot += 1

    def recent(self, chance):
        """Returns one of these paths, or an empty one, or another where it is just written."""
        at = chance.randrange(_SLOTS) * _SLOT
        length = self.memory[at]
        # of a path that is just written the length may be there, and zeros in place of its end
        path = self.memory[at + 1 : at + 1 + length].decode("ascii", "replace").split("\0")[0]
        return "/".join(part for part in path.split("/") if part)

    def end(self):
        """Has all readers end."""
        self.memory[_SLOTS * _SLOT] = 1

    def is_ended(self):
        """Tells whether they are to end."""
        return self.memory[_SLOTS * _SLOT] == 1


def any_path(chance):
    """Returns a path that may be there."""
    above = [chance.choice(DIRECTORIES + LINKS[:1]) for _ in range(chance.randrange(DEPTH + 1))]
    return "/".join(above + [chance.choice(FILES + DIRECTORIES + LINKS)])


def neighbour(path, chance):
    """Returns a path near another one: itself, one below it, one beside it or one above it."""
    parts = path.split("/") if path else []
    draw = chance.random()
    if draw < 0.5:
        return path
    if draw < 0.75:
        return "/".join(parts + [chance.choice(FILES + DIRECTORIES)])
    if draw < 0.9:
        return "/".join(parts[:-1] + [chance.choice(FILES + LINKS)])
    return "/".join(parts[:-1])


def seeded(*parts):
    """Returns a source of chance that is the same for the same parts."""
    return random.Random(" ".join(str(part) for part in parts))
