"""What an attacker who knows Holdfast tries: each attempt is made on purpose, in a folder that goes again."""

import errno
import os
import shutil
import time

import calm
from changes import HUGE, ITEM, acting, overwrite
from common import ROOT, USERS, User, become, seeded
from rights import ACCESS_ACL, GROUP_OBJ, MASK, OTHER, USER, USER_OBJ, encode
from stamps import HOLE, PAGE, pages, runs

NOBODY = USERS[-1]
DAEMON = USERS[1]
MEMBER = User(4003, 4003, (NOBODY.gid,))
# File numbers of their own: those of the random tree begin at 1.
_FIRST = 1 << 32
_FAR = (1 << 24) * ITEM
_STEPS = 300
_SECRETS = 40
_DEADLINE = 20
_READ = 64 << 10
_CLOSING = 4  # seconds
_MOST = 8000


class Attempts:
    """All attempts at one mount."""

    def __init__(self, options, label, found):
        self.options = options
        self.label = label
        self.found = found
        self.numbers = _FIRST
        self.chance = seeded(options.seed, "specifics")
        self.origin = os.path.join(options.origin, "data", "specifics")
        self.mount = os.path.join(options.mount, "specifics")

    def violation(self, what, words):
        """Counts a violation, and shows it."""
        self.found[what] += 1
        if self.found[what] <= 3:
            print("VIOLATION %s: %s\n  %s" % (self.label, what, words), flush=True)

    def settle(self):
        """Waits until the mount believes nothing of what was so before."""
        if self.options.refresh:
            self.options.refresh_now()
        else:
            time.sleep(self.options.ttl_ms / 1000 + 0.2)

    def make(self, path, size, mode, version=1):
        """Makes a file of root's and returns its number; its times are 0."""
        self.numbers += 1
        whole = os.path.join(self.origin, path)
        with open(whole, "wb") as out:
            out.write(pages(self.numbers, version, 0, size))
        os.chmod(whole, mode)
        os.utime(whole, (0, 0))
        return self.numbers

    def directory(self, path, mode):
        """Makes a directory of root's."""
        os.mkdir(os.path.join(self.origin, path), mode)

    def through(self, user, path, call):
        """Returns ("ok", result) or the name of an error, of a call through the mount as a user."""
        whole = os.path.join(self.mount, path)

        def tried():
            try:
                return "ok", call(whole)
            except OSError as e:
                return (errno.errorcode.get(e.errno, str(e.errno)),)

        return calm.as_user(user, tried, _DEADLINE)

    def must_refuse(self, what, user, path, allowed=("EACCES", "ENOENT", "ESTALE")):
        """Opens and reads a file through the mount, which must fail."""
        result = self.through(user, path, read_all)
        if result[0] == "ok" and result[1]:
            self.violation(what, "uid %d reads %s: %s" % (user.uid, path, result[1][:2]))
        elif result[0] == "ok" or result[0] not in allowed:
            self.violation(what, "uid %d opens %s: %s" % (user.uid, path, result[0]))

    def must_hold(self, what, path, number, version, size):
        """Reads a file as root through the mount, which must hold one version."""
        result = self.through(ROOT, path, read_all)
        if result != ("ok", [(number, version, 0, size)]):
            self.violation(what, "%s holds %s, and not file %d version %d" % (path, str(result)[:200], number, version))

    # --- attempts

    def far_offsets(self):
        """A user reads a huge file of their own where numbers of items may run over."""
        self.directory("open", 0o777)
        os.chmod(os.path.join(self.origin, "open"), 0o777)
        huge = os.path.join(self.origin, "open/huge")
        with acting(NOBODY):
            os.close(os.open(huge, os.O_CREAT | os.O_WRONLY, 0o644))
            try:
                os.truncate(huge, HUGE)
            except OSError:
                return  # there are no files of that size here
        # known to the mount before the others are: it has the smaller number
        self.through(NOBODY, "open/huge", lambda whole: os.stat(whole).st_size)
        self.directory("secret", 0o700)
        secrets = {}
        for i in range(_SECRETS):
            size = PAGE * (1 + i % 5) + (ITEM if i % 7 == 0 else 100)
            secrets["secret/%d" % i] = self.make("secret/%d" % i, size, 0o600), size
        for path, (number, size) in list(secrets.items())[: _SECRETS // 2]:
            self.must_hold("root's file before the attack", path, number, 1, size)
        for path in secrets:
            self.through(ROOT, path, lambda whole: os.stat(whole).st_size)
        for at in range(0, _STEPS, 50):
            steps = range(max(1, at), at + 50)
            for found in self.through(NOBODY, "open/huge", lambda whole: read_far(whole, steps))[1:]:
                for run in found:
                    self.violation("FOREIGN BYTES of a huge file", "file %s, version %s, at %d to %d" % run)
        self.poison(huge, secrets)

    def poison(self, huge, secrets):
        """The user writes there, and has it read; root's files must be what they are."""
        with acting(NOBODY):
            for step in range(1, _STEPS):
                overwrite(huge, step * _FAR, pages(_FIRST, 1, 0, 3 * PAGE))
        time.sleep(0.15)
        self.through(NOBODY, "open/huge", lambda whole: len(read_far(whole, range(1, _STEPS))))
        for path, (number, size) in secrets.items():
            self.must_hold("FOREIGN BYTES in root's file", path, number, 1, size)

    def closed_directory(self):
        """A name is made below a directory that was closed a moment before."""
        self.directory("room", 0o755)
        self.make("room/known", PAGE, 0o644)
        self.through(NOBODY, "room/known", read_all)
        os.chmod(os.path.join(self.origin, "room"), 0o700)
        self.make("room/new", PAGE, 0o644)
        self.must_refuse("a new name below a closed directory", NOBODY, "room/new")

    def closing_directory(self):
        """A directory, or the one above it, is closed, then a secret comes into it, and root looks at it as soon as it is
        there: all that again and again, while users look at the name all the time."""
        if self.options.binding == "jnr-fuse":
            print("  no directory is being closed: this binding may fail then (SEMANTICS)")
            return
        folders = [os.path.join(self.origin, each) for each in ("closing", "closing/in")]
        for folder in folders:
            self.directory(folder, 0o755)
        name = os.path.join(self.origin, "closing/in/f")
        end = time.monotonic() + _CLOSING
        # what is public has an even size
        self.place("closing/in/f", 2)
        lookers = [look_on(user, os.path.join(self.mount, "closing/in/f"), end) for user in (NOBODY, NOBODY, DAEMON, ROOT, ROOT)]
        size = 2
        while time.monotonic() < end:
            folder = self.chance.choice(folders)
            os.chmod(folder, 0o700)
            for step in (1, 2):
                time.sleep(self.chance.expovariate(1000))
                self.place("closing/in/f", size + step)
            size = 2 + size % _MOST
            time.sleep(self.chance.expovariate(1000))
            os.chmod(folder, 0o755)
            time.sleep(self.chance.expovariate(1000))
        for user, child in lookers:
            secrets = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if secrets and user != ROOT:
                self.violation("what came into a closed directory", "uid %d: %s" % (user.uid, secrets))
        os.remove(name)

    def place(self, path, size):
        """Puts a file of a size, open to all, in the place of one."""
        aside = os.path.join(self.options.origin, "aside")
        with open(aside, "wb") as out:
            out.write(bytes(size))
        os.chmod(aside, 0o644)
        os.rename(aside, os.path.join(self.origin, path))

    def swapped_directory(self):
        """mv x x.old; mv v x, where the new x is root's alone."""
        self.directory("x", 0o755)
        self.directory("v", 0o700)
        old = self.make("x/f", PAGE, 0o644)
        self.make("v/f", PAGE, 0o644)
        self.make("v/g", PAGE, 0o644)
        for path in ("x/f", "v/f", "v/g"):
            self.through(ROOT, path, read_all)
        self.through(NOBODY, "x/f", read_all)
        os.rename(os.path.join(self.origin, "x"), os.path.join(self.origin, "x.old"))
        os.rename(os.path.join(self.origin, "v"), os.path.join(self.origin, "x"))
        self.must_refuse("a name below a directory that was swapped", NOBODY, "x/g")
        result = self.through(NOBODY, "x/f", read_all)
        if result[0] == "ok" and result[1] and result[1][0][0] != old:
            self.violation("a file below a directory that was swapped", "uid %d reads %s" % (NOBODY.uid, result[1]))
        self.settle()
        self.must_refuse("a file below a directory that was swapped", NOBODY, "x/f", ("EACCES",))

    def lists_of_rights(self):
        """Lists that take rights from a user, or whose mask looks like rights of the group."""
        denied = encode([(USER_OBJ, 6, None), (USER, 0, NOBODY.uid), (GROUP_OBJ, 4, None), (MASK, 4, None), (OTHER, 4, None)])
        named = encode([(USER_OBJ, 6, None), (USER, 4, DAEMON.uid), (GROUP_OBJ, 0, None), (MASK, 4, None), (OTHER, 0, None)])
        number = self.make("listed", PAGE, 0o644)
        self.make("masked", PAGE, 0o600)
        self.make("late", PAGE, 0o644)
        os.chown(os.path.join(self.origin, "masked"), 0, NOBODY.gid)
        os.setxattr(os.path.join(self.origin, "listed"), ACCESS_ACL, denied)
        os.setxattr(os.path.join(self.origin, "masked"), ACCESS_ACL, named)
        self.through(NOBODY, "late", read_all)
        os.setxattr(os.path.join(self.origin, "late"), ACCESS_ACL, denied)
        self.must_refuse("a list that denies", NOBODY, "listed", ("EACCES",))
        for user in (NOBODY, MEMBER):
            self.must_refuse("a mask that looks like the group's rights", user, "masked", ("EACCES",))
        if self.options.lists == "exact":
            for user, path in ((DAEMON, "masked"), (DAEMON, "listed")):
                if self.through(user, path, read_all)[0] != "ok":
                    self.violation("a list that permits is not enforced", "uid %d, %s" % (user.uid, path))
        self.must_hold("a file with a list", "listed", number, 1, PAGE)
        self.settle()
        self.must_refuse("a list that was set later", NOBODY, "late", ("EACCES",))

    def same_size_and_time(self):
        """rm -rf; tar -x of another version with the same sizes and times."""
        self.directory("made", 0o755)
        sizes = {"made/%d" % i: PAGE * (1 + i % 3) for i in range(50)}
        for path, size in sizes.items():
            self.must_hold("a new file", path, self.make(path, size, 0o644), 1, size)
        shutil.rmtree(os.path.join(self.origin, "made"))
        self.directory("made", 0o755)
        numbers = {path: self.make(path, size, 0o644, 2) for path, size in sizes.items()}
        self.settle()
        for path, size in sizes.items():
            self.must_hold("a file made again with the same size and time", path, numbers[path], 2, size)

    def in_place(self):
        """cp -p over a file of which a half is in memory."""
        size = 20 * ITEM
        number = self.make("large", size, 0o644)
        whole = os.path.join(self.origin, "large")
        os.utime(whole, (0, 0))
        self.through(ROOT, "large", lambda path: len(read_all(path, size // 2)))
        overwrite(whole, 0, pages(number, 2, 0, size))
        os.utime(whole, (0, 0))
        result = self.through(ROOT, "large", read_all)
        versions = {run[1] for run in result[1]} if result[0] == "ok" else set()
        if len(versions) > 1:
            self.violation("two versions in one open file", str(result[1][:4]))
        self.settle()
        self.must_hold("a file rewritten in place with its time", "large", number, 2, size)

    def items_of_a_huge_file(self):
        """Asks how many items of a huge file are resident."""
        if os.path.exists(os.path.join(self.origin, "open/huge")):
            for name in ("user.holdfast.items", "user.holdfast.resident"):
                self.through(NOBODY, "open/huge", lambda path: os.getxattr(path, name))

    def run(self):
        """Makes all attempts."""
        os.mkdir(self.origin, 0o755)
        attempts = (
            self.far_offsets,
            self.closed_directory,
            self.closing_directory,
            self.swapped_directory,
            self.lists_of_rights,
            self.same_size_and_time,
            self.in_place,
            self.items_of_a_huge_file,
        )
        for attempt in attempts:
            attempt()
        shutil.rmtree(self.origin)
        self.settle()


def look_on(user, path, end):
    """Starts a process that looks at a file until a time; returns the user and the process, which ends with how many
    of the looks showed an odd size, 100 at most."""
    child = os.fork()
    if child:
        return user, child
    odd = 0
    try:
        become(user)
        while time.monotonic() < end:
            try:
                odd += os.stat(path).st_size % 2
            except OSError:
                pass  # refused
            time.sleep(0)
    finally:
        os._exit(min(odd, 100))


def read_all(path, most=HUGE):
    """Returns what a file holds, as runs of pages."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        found, at = [], 0
        while at < most:
            data = os.pread(descriptor, ITEM, at)
            if not data:
                break
            found += runs(at, data)
            at += len(data)
        return merged(found)
    finally:
        os.close(descriptor)


def merged(found):
    """Joins runs that go on in the next read."""
    joined = []
    for run in found:
        if joined and joined[-1][:2] == run[:2] and joined[-1][3] == run[2]:
            run = (*run[:2], joined.pop()[2], run[3])
        joined.append(run)
    return joined


def read_far(path, steps):
    """Returns what is found where a huge file has holes, or pages of the attacker's own."""
    descriptor = os.open(path, os.O_RDONLY)
    found = []
    try:
        for step in steps:
            for at in (step * _FAR, step * _FAR + ITEM - _READ):
                try:
                    data = os.pread(descriptor, _READ, at)
                except OSError:
                    continue  # refused: nothing was given
                own = pages(_FIRST, 1, 0, 3 * PAGE)
                if data.startswith(own) and not any(data[len(own) :]):
                    continue
                found += [run for run in runs(at, data) if run[0] not in (HOLE, _FIRST)]
        return found[:20]
    finally:
        os.close(descriptor)
