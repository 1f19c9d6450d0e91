"""Those who look: a process for each user, which makes calls through the mount and at the origin.

A look is (side, call, path, begin, end, error, result); times in nanoseconds of CLOCK_MONOTONIC. A
file that was opened is one look, with a list of all that was read of it.
"""

import errno
import mmap
import os
import stat

from changes import ITEM
from common import ATTRIBUTE, MILLI, SECOND, any_path, neighbour, now, seeded, send
from rights import ACCESS_ACL
from stamps import PAGE, runs

MOUNT, ORIGIN = 0, 1
_BATCH = 40
_BATCH_TIME = 50 * MILLI
_MOST = 256 << 10
_HELD = 6
_HELD_LOOKS = 60
_HELD_TIME = 3 * SECOND
_FAR = (1 << 24) * ITEM


class Reader:
    """One user, at one origin and its mount."""

    def __init__(self, user, roots, board, out, seed):
        self.user = user
        self.roots = roots
        self.board = board
        self.out = out
        self.chance = seeded(seed, "reader", user.uid)
        self.looks = []
        self.sent = now()
        self.held = []
        self.copy = os.memfd_create("copy")
        self.aligned = mmap.mmap(-1, 64 * PAGE)
        self.calls = {
            "stat": (self.stat, 22),
            "read": (self.read, 34),
            "list": (os.listdir, 10),
            "access": (None, 12),
            "readlink": (os.readlink, 4),
            "acl": (lambda path: os.getxattr(path, ACCESS_ACL), 8),
            "attribute": (lambda path: os.getxattr(path, ATTRIBUTE), 5),
        }

    def run(self):
        """Looks at what was changed lately, or anywhere, until it is told to end."""
        names = list(self.calls)
        weights = [self.calls[name][1] for name in names]
        while not self.board.is_ended():
            path = self.board.recent(self.chance) if self.chance.random() < 0.75 else any_path(self.chance)
            path = neighbour(path, self.chance)
            name = self.chance.choices(names, weights)[0]
            side = MOUNT if self.chance.random() < 0.75 else ORIGIN
            if name == "access":
                want = self.chance.choice((os.R_OK, os.X_OK, os.R_OK | os.X_OK, os.F_OK))
                self.look(side, "access", path, lambda whole: checked_access(whole, want), want)
            else:
                self.look(side, name, path, self.calls[name][0])
            if self.held and self.chance.random() < 0.2:
                self.look_again()
            self.deliver()
        for held in list(self.held):
            self.release(held)
        self.deliver(last=True)

    def deliver(self, last=False):
        """Sends what was seen, now and then."""
        moment = now()
        if last or len(self.looks) >= _BATCH or moment - self.sent > _BATCH_TIME:
            # a file that is still held tells nothing about the time before it is closed
            since = min([moment] + [each.begin for each in self.held])
            send(self.out, ("looks", self.user.uid, moment, since, self.looks))
            self.looks = []
            self.sent = moment

    def look(self, side, name, path, call, argument=None):
        """Makes a call and writes down what came of it."""
        whole = os.path.join(self.roots[side], path) if path else self.roots[side]
        begin = now()
        try:
            result = call(whole)
            error = 0
        except OSError as e:
            result, error = None, e.errno
        if isinstance(result, Opened):
            result.begin, result.side, result.path = begin, side, path
            result.opened = result.opened or now()
            if error == 0 and self.chance.random() < 0.1 and len(self.held) < _HELD:
                result.until = result.opened + self.chance.randrange(_HELD_TIME)
                self.held.append(result)
            else:
                self.release(result)
            return
        if argument is not None:
            result = argument
        self.looks.append((side, name, path, begin, now(), error, result))

    def stat(self, path):
        """What lstat(2) tells."""
        seen = os.lstat(path)
        return kind(seen.st_mode), stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid, seen.st_size

    # --- contents

    def read(self, path):
        """Opens a file and reads some of it."""
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        opened = Opened(descriptor, now())
        self.read_some(opened)
        return opened

    def read_some(self, opened):
        """Reads some of an open file, in one way or another."""
        seen = os.fstat(opened.descriptor)
        if not stat.S_ISREG(seen.st_mode):
            opened.directory = True
            return
        draw = self.chance.random()
        size = seen.st_size
        if size >= _FAR:
            for _ in range(3):
                self.read_at(opened, self.far(size), PAGE * self.chance.choice((1, 1, 16)))
        elif draw < 0.5:
            self.read_whole(opened, min(size, 4 * _MOST))
        elif draw < 0.7:
            self.read_at(opened, self.chance.randrange(size // PAGE + 1) * PAGE, PAGE * self.chance.choice((1, 4, 64)))
        elif draw < 0.9:
            self.read_mapped(opened, size)
        else:
            self.read_direct(opened, size)

    def far(self, size):
        """Returns an offset at which the number of an item may run over."""
        step = self.chance.randrange(1, min(size // _FAR + 1, 80)) * _FAR
        return min(step + self.chance.randrange(6) * PAGE, size - PAGE)

    def read_whole(self, opened, size):
        """From the beginning to the end, a buffer at a time."""
        at = 0
        while at <= size:
            got = self.read_at(opened, at, _MOST)
            if got <= 0:
                break
            at += got
            if at % PAGE:
                break

    def read_at(self, opened, at, length):
        """One read(2); returns how many bytes, or -1."""
        begin = now()
        try:
            data = os.pread(opened.descriptor, length, at)
        except OSError as e:
            opened.reads.append(("read", at, length, begin, now(), e.errno, 0, ()))
            return -1
        opened.reads.append(("read", at, length, begin, now(), 0, len(data), runs(at, data)))
        return len(data)

    def read_direct(self, opened, size):
        """The same past the page cache."""
        at = self.chance.randrange(size // PAGE + 1) * PAGE
        path = "/proc/self/fd/%d" % opened.descriptor
        begin = now()
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
        except OSError:
            return  # the file system has no such reads, or the file another mode by now
        try:
            length = os.preadv(descriptor, [self.aligned], at)
            data = self.aligned[:length]
            opened.reads.append(("direct", at, len(self.aligned), begin, now(), 0, length, runs(at, data)))
        except OSError as e:
            opened.reads.append(("direct", at, len(self.aligned), begin, now(), e.errno, 0, ()))
        finally:
            os.close(descriptor)

    def read_mapped(self, opened, size):
        """Maps pages and has them copied by the kernel, which then gives an error where a page has none."""
        pages = size // PAGE
        if not pages:
            return
        first = self.chance.randrange(pages)
        at, length = first * PAGE, min(pages - first, _MOST // PAGE) * PAGE
        begin = now()
        try:
            with mmap.mmap(opened.descriptor, length, mmap.MAP_SHARED, mmap.PROT_READ, offset=at) as mapped:
                with memoryview(mapped) as view:
                    copied = os.pwrite(self.copy, view, 0)
            # where a file ends within a page, the rest of that page is no content
            whole = os.fstat(opened.descriptor).st_size // PAGE * PAGE
            data = os.pread(self.copy, max(0, min(copied, whole - at)), 0)
            opened.reads.append(("mapped", at, len(data), begin, now(), 0, len(data), runs(at, data)))
        except OSError as e:
            opened.reads.append(("mapped", at, length, begin, now(), e.errno, 0, ()))
        except ValueError:
            return  # it has become shorter

    def look_again(self):
        """Reads more of a file that is held open, or lets it go."""
        held = self.chance.choice(self.held)
        if len(held.reads) < _HELD_LOOKS and now() < held.until:
            try:
                self.read_some(held)
                return
            except OSError as e:
                held.reads.append(("fstat", 0, 0, now(), now(), e.errno, 0, ()))
        self.release(held)

    def release(self, opened):
        """Closes a file, and tells of it."""
        if opened in self.held:
            self.held.remove(opened)
        os.close(opened.descriptor)
        result = (opened.directory, opened.reads)
        self.looks.append((opened.side, "read", opened.path, opened.begin, opened.opened, 0, result))


class Opened:
    """A file that is open, and what was read of it."""

    def __init__(self, descriptor, opened):
        self.descriptor = descriptor
        self.opened = opened
        self.begin = opened
        self.until = opened
        self.side = MOUNT
        self.path = ""
        self.directory = False
        self.reads = []


def kind(mode):
    """Returns a letter for a type of file."""
    return {stat.S_IFDIR: "d", stat.S_IFLNK: "l", stat.S_IFREG: "f"}.get(stat.S_IFMT(mode), "?")


def checked_access(path, want):
    """access(2), with its error."""
    if not os.access(path, want):
        # os.access tells no error: the one of a path that leads nowhere comes from stat(2)
        os.stat(path)
        raise OSError(errno.EACCES, "access", path)
