"""A random program of operations on a checkpoint mount, and the model that knows what it did.

usage: program.py MOUNT JOURNAL SEED   performs operations until it is killed

The program writes each operation to JOURNAL before it performs it, and its outcome behind it. The
model performs the same operations in a directory of its own, compares the outcomes, and keeps a
picture of the tree after each: these are the states that the store may show.

The program performs no operation that the store could have in part: a write stays within a page.
"""

import ctypes
import errno
import hashlib
import json
import os
import random
import sys
import time

NAMES = ("a", "b", "d", "d/x", "d/y", "e", "e/x", "e/d")
PAGE = 4096
NOREPLACE, EXCHANGE = 1, 2
LIBC = ctypes.CDLL(None, use_errno=True)

# The mount is gone: whether the operation was performed is not known.
GONE = (errno.ENOTCONN, errno.ECONNABORTED, errno.EIO, errno.ENODEV)


def renameat2(one, two, flags):
    if LIBC.renameat2(-100, os.fsencode(one), -100, os.fsencode(two), flags) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def content(seed, length):
    return random.Random(seed).randbytes(length)


class Tree:
    """A directory with the files that a program has open there."""

    def __init__(self, root):
        self.root = root
        self.held = {}

    def path(self, name):
        return os.path.join(self.root, name)

    def open(self, name, flags):
        return os.open(self.path(name), flags | os.O_NOFOLLOW)

    def with_file(self, name, flags, action):
        file = self.open(name, flags)
        try:
            return action(file)
        finally:
            os.close(file)

    def close_held(self):
        for file in self.held.values():
            os.close(file)
        self.held.clear()

    def perform(self, operation):
        """Performs an operation; returns its outcome, which is the same for the same tree."""
        umask = os.umask(0)
        try:
            return self.perform_or_fail(*operation)
        except OSError as failure:
            return {"errno": failure.errno}
        finally:
            os.umask(umask)

    def perform_or_fail(self, kind, *words):
        match kind, *words:
            case "create", name, mode:
                os.close(os.open(self.path(name), os.O_CREAT | os.O_EXCL | os.O_RDWR, mode))
            case "mkdir", name, mode:
                os.mkdir(self.path(name), mode)
            case "symlink", name, target:
                os.symlink(target, self.path(name))
            case "link", name, other:
                os.link(self.path(name), self.path(other), follow_symlinks=False)
            case "unlink", name:
                os.unlink(self.path(name))
            case "rmdir", name:
                os.rmdir(self.path(name))
            case "rename", name, other, flags:
                renameat2(self.path(name), self.path(other), flags)
            case "truncate", name, size:
                self.with_file(name, os.O_WRONLY, lambda file: os.ftruncate(file, size))
            case "write", name, offset, length, seed:
                return self.with_file(
                    name, os.O_WRONLY, lambda file: os.pwrite(file, content(seed, length), offset))
            case "append", name, length, seed:
                return self.with_file(name, os.O_WRONLY | os.O_APPEND,
                                      lambda file: self.append(file, content(seed, length)))
            case "chmod", name, mode:
                self.with_file(name, os.O_RDONLY, lambda file: os.fchmod(file, mode))
            case "setxattr", name, value, flags:
                os.setxattr(self.path(name), "user.x", value.encode(), flags,
                            follow_symlinks=False)
            case "removexattr", name:
                os.removexattr(self.path(name), "user.x", follow_symlinks=False)
            case "fsync", name:
                self.with_file(name, os.O_RDONLY, os.fsync)
            case "hold", name, number:
                file = self.open(name, os.O_RDWR)
                self.perform_or_fail("release", number)
                self.held[number] = file
            case "release", number:
                if number in self.held:
                    os.close(self.held.pop(number))
            case "write held", number, offset, length, seed:
                return os.pwrite(self.file(number), content(seed, length), offset)
            case "read held", number:
                file = self.file(number)
                read = os.pread(file, os.fstat(file).st_size, 0)
                return [hashlib.sha256(read).hexdigest(), os.fstat(file).st_nlink]
            case "list", name:
                return sorted(os.listdir(self.path(name)))
            case _:
                raise ValueError(kind)
        return None

    @staticmethod
    def append(file, piece):
        """Within a page: a shorter piece, if the file ends in the middle of one."""
        end = os.fstat(file).st_size
        return os.write(file, piece[:PAGE - end % PAGE])

    def file(self, number):
        if number not in self.held:
            raise OSError(errno.EBADF, "nothing is held")
        return self.held[number]

    def picture(self, without=()):
        """Everything that a program can see of the tree, except times."""
        found = {}
        first = {}
        for path, directories, files in os.walk(self.root):
            directories.sort()
            for name in sorted(directories + files):
                full = os.path.join(path, name)
                short = os.path.relpath(full, self.root)
                if short not in without:
                    found[short] = self.entry(full, first.setdefault(os.lstat(full).st_ino, short))
        return found

    @staticmethod
    def entry(full, first):
        stat = os.lstat(full)
        body, xattr = "", None
        if os.path.islink(full):
            body = os.readlink(full)
        elif not os.path.isdir(full):
            with open(full, "rb") as file:
                body = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
        if not os.path.islink(full):
            try:
                xattr = os.getxattr(full, "user.x").decode()
            except OSError as failure:
                if failure.errno != errno.ENODATA:
                    raise
        links = 0 if os.path.isdir(full) else stat.st_nlink
        return [first, stat.st_mode, stat.st_uid, stat.st_gid, links, body, xattr]


def digest(picture):
    return hashlib.blake2b(json.dumps(picture, sort_keys=True).encode(), digest_size=16).digest()


class Different(Exception):
    """The mount or the store is not as the model says."""


class Model:
    """What the program did, from its journal, in a tree of its own."""

    def __init__(self, root):
        self.tree = Tree(root)
        self.now = self.tree.picture()
        self.states = [digest(self.now)]
        self.changed = {}
        self.journal = None
        self.part = b""
        self.pending = None
        self.taken = 0
        self.operations = 0

    def program_begins(self, journal):
        self.journal = open(journal, "rb")
        self.part = b""

    def follow(self):
        """Performs what the program has done until now; it goes on meanwhile."""
        end = os.fstat(self.journal.fileno()).st_size
        while self.journal.tell() < end:
            self.part += self.journal.readline()
            if self.part.endswith(b"\n"):
                words = json.loads(self.part)
                self.part = b""
                if isinstance(words, list):
                    self.pending = words
                else:
                    self.outcome(words["outcome"])

    def outcome(self, outcome):
        if isinstance(outcome, dict) and outcome["errno"] in GONE:
            return  # it is still to be seen what became of it
        operation, self.pending = self.pending, None
        mine = self.perform(operation)
        if mine != outcome:
            raise Different(f"{operation} gave {outcome} instead of {mine}")
        if operation[0] == "fsync" and outcome is None:
            # the store had it, and all before, when the program went on
            self.taken = max(self.taken, self.changed.get(operation[1], 0))

    def perform(self, operation):
        outcome = self.tree.perform(operation)
        self.operations += 1
        before, self.now = self.now, self.tree.picture()
        if before != self.now:
            self.states.append(digest(self.now))
            for name in before.keys() | self.now.keys():
                if before.get(name) != self.now.get(name):
                    self.changed[name] = len(self.states) - 1
        return outcome

    def program_ended(self, mount):
        """The program was killed, or has lost the mount: its last operation was performed or not."""
        self.follow()
        self.journal.close()
        there = mount.picture()
        if self.pending is not None and there != self.now:
            self.perform(self.pending)
        if there != self.now:
            raise Different(
                f"the mount differs, perhaps behind {self.pending}:"
                f" {differences(there, self.now)}")
        self.pending = None
        self.tree.close_held()

    def check(self, picture, since):
        """A picture of the store is one of the states, and none before those that it had taken."""
        state = digest(picture)
        moment = since
        while moment < len(self.states) and self.states[moment] != state:
            moment += 1
        if moment == len(self.states):
            raise Different(
                f"the store is that of no moment since {since} of {len(self.states) - 1};"
                f" beside now: {differences(picture, self.now)}")
        self.taken = max(self.taken, moment)
        return len(self.states) - 1 - moment


def differences(one, two):
    return [(name, one.get(name), two.get(name))
            for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)][:5]


class Program:
    """Chooses operations: random ones on some names, and saves as trainers do them."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.saves = []
        self.number = 0

    def save(self):
        """A temporary file, a rename, and a link to the latest; the old ones go."""
        self.number += 1
        name = f"step-{self.random.randrange(1 << 30)}"
        yield ["unlink", "tmp"]
        yield ["create", "tmp", 0o644]
        seed = self.random.randrange(1 << 30)
        pieces = self.random.randrange(1, 12)
        body = b"".join(content(seed + i, PAGE) for i in range(pieces))
        for i in range(pieces):
            yield ["write", "tmp", i * PAGE, PAGE, seed + i]
        # a marker at its end that says whether it is whole
        yield ["setxattr", "tmp", hashlib.sha256(body).hexdigest(), 0]
        if self.random.random() < 0.3:
            yield ["fsync", "tmp"]
        yield ["rename", "tmp", name, 0]
        yield ["unlink", "next"]
        yield ["symlink", "next", name]
        yield ["rename", "next", "latest", 0]
        self.saves.append(name)
        while len(self.saves) > 3:
            yield ["unlink", self.saves.pop(0)]

    def any(self):
        choose = self.random
        one, two = choose.choice(NAMES), choose.choice(NAMES)
        offset = choose.randrange(9000)
        length = choose.randrange(1, PAGE - offset % PAGE + 1)
        seed = choose.randrange(1 << 30)
        held = choose.randrange(3)
        return choose.choice((
            *[["create", one, 0o600 + choose.randrange(64)]] * 4,
            ["mkdir", choose.choice(("d", "e", "e/d")), 0o750],
            *([["symlink", one, two]] if choose.random() < 0.3 else []),
            ["link", one, two],
            ["link", one, two],
            ["unlink", one],
            ["rmdir", one],
            ["rename", one, two, 0],
            ["rename", one, two, 0],
            ["rename", one, two, choose.choice((NOREPLACE, EXCHANGE))],
            ["truncate", one, offset],
            ["write", one, offset, length, seed],
            ["write", one, offset, length, seed],
            ["append", one, choose.randrange(1, PAGE), seed],
            ["chmod", one, 0o600 + choose.randrange(64)],
            ["setxattr", one, f"value {seed}", choose.randrange(3)],
            ["removexattr", one],
            *[["hold", one, held]] * 2,
            ["release", held],
            *[["write held", held, offset, length, seed]] * 2,
            ["read held", held],
            ["list", choose.choice(("d", "e"))],
            *([["fsync", one]] if choose.random() < 0.2 else []),
        ))

    def operations(self):
        while True:
            if self.random.random() < 0.05:
                yield from self.save()
            else:
                yield self.any()


def main(mount, journal, seed):
    parent = os.getppid()
    tree = Tree(mount)
    program = Program(seed)
    try:
        program.saves = [name for name in os.listdir(mount) if name.startswith("step-")]
    except OSError:
        sys.exit(3)
    pace = random.Random(seed + 1)
    log = os.open(journal, os.O_WRONLY | os.O_APPEND)
    for operation in program.operations():
        os.write(log, json.dumps(operation).encode() + b"\n")
        outcome = tree.perform(operation)
        os.write(log, json.dumps({"outcome": outcome}).encode() + b"\n")
        if isinstance(outcome, dict) and outcome["errno"] in GONE:
            sys.exit(3)  # below the mountpoint there may be another directory by now
        if os.getppid() != parent:
            sys.exit("whoever has started this is gone")
        time.sleep(pace.expovariate(200))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
