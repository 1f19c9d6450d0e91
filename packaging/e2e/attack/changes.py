"""The one who changes the origin: one system call or write after the other, each told with its time.

Changes are made as root, or as one of the users, who may not be permitted to: what fails changes
nothing and is not told. What an inode's rights are then is asked of the origin, not computed.
"""

import contextlib
import errno
import os
import stat

from common import ATTRIBUTE, DEPTH, DIRECTORIES, FILES, GIDS, LINKS, ROOT, SECOND, UIDS, USERS, now, send
from rights import ACCESS_ACL, DEFAULT_ACL, GROUP, GROUP_OBJ, MASK, OTHER, USER, USER_OBJ, encode
from stamps import LEAST_TAIL, PAGE, Content, pages

MODES = (0o644, 0o644, 0o600, 0o640, 0o444, 0o604, 0o755, 0o700, 0o711, 0o751, 0o666, 0o777, 0o070, 0o007, 0)
HUGE = 1 << 62
# Files are cut into items of this size in mounts under attack.
ITEM = 1 << 20
_MANY = 220
_EPOCH = 1_000_000_000 * SECOND


class Entry:
    """An inode of the origin, as the changer knows it."""

    def __init__(self, number, kind, target=""):
        self.number = number
        self.kind = kind
        self.target = target
        self.children = {}
        self.parent = None
        self.name = ""
        self.content = Content(0, ())

    def path(self):
        """Returns the path of a directory."""
        return "" if self.parent is None else os.path.join(self.parent.path(), self.name)


class Changer:
    """Changes a tree at random."""

    def __init__(self, root, chance, board, out):
        self.root = os.path.join(root, "data")
        self.stage = os.path.join(root, "stage")
        self.chance = chance
        self.board = board
        self.out = out
        self.numbers = 1
        self.versions = 0
        self.top = Entry(1, "d")
        self.made = 0
        self.counts = {}

    # --- telling

    def shown(self, path):
        """Returns the rights that the origin shows."""
        whole = os.path.join(self.root, path)
        seen = os.lstat(whole)
        try:
            acl = os.getxattr(whole, ACCESS_ACL, follow_symlinks=False)
        except OSError as e:
            if e.errno not in (errno.ENODATA, errno.EOPNOTSUPP):
                raise
            acl = None
        return stat.S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid, acl

    def change(self, what, path, call, deltas, user=ROOT):
        """Makes a change and tells of it; tells whether it could be made."""
        begin = now()
        try:
            with acting(user):
                call()
        except OSError as e:
            if e.errno in (errno.EIO, errno.EINVAL, errno.ESTALE):
                raise
            return False
        end = now()
        self.counts[what] = self.counts.get(what, 0) + 1
        self.made += 1
        self.board.changed(path)
        send(self.out, ("change", begin, end, what + " " + path, deltas()))
        return True

    def rights(self, entry, path):
        """Returns the delta of an entry's rights."""
        return [("rights", entry.number, self.shown(path))]

    # --- choosing

    def entries(self, directory=None, above=""):
        """Yields (directory, name, entry, path) of all."""
        directory = directory or self.top
        for name, entry in directory.children.items():
            path = os.path.join(above, name)
            yield directory, name, entry, path
            if entry.kind == "d":
                yield from self.entries(entry, path)

    def pick(self, kinds):
        """Returns one of those of some kinds, or None."""
        fitting = [each for each in self.entries() if each[2].kind in kinds]
        return self.chance.choice(fitting) if fitting else None

    def directory(self):
        """Returns a directory with its path."""
        found = [each for each in self.entries() if each[2].kind == "d"]
        if not found or self.chance.random() < 0.15:
            return self.top, ""
        _, _, entry, path = self.chance.choice(found)
        return entry, path

    def actor(self):
        """Returns who makes a change."""
        return ROOT if self.chance.random() < 0.5 else self.chance.choice(USERS[1:])

    def free(self, directory, names):
        """Returns a name that is not taken, or an empty one."""
        left = [name for name in names if name not in directory.children]
        return self.chance.choice(left) if left else ""

    def acl(self):
        """Returns a list of rights."""
        perm = lambda: self.chance.choice((0, 0, 4, 5, 7, 1))
        named = self.chance.sample(UIDS[1:], self.chance.randrange(3))
        groups = self.chance.sample(GIDS[1:], self.chance.randrange(3 if named else 2))
        entries = [(USER_OBJ, perm() | 4, None), (GROUP_OBJ, perm(), None), (OTHER, perm(), None)]
        entries += [(USER, perm(), uid) for uid in named] + [(GROUP, perm(), gid) for gid in groups]
        if named or groups:
            entries.append((MASK, self.chance.choice((7, 7, 5, 4, 1, 0)), None))
        return encode(entries)

    def size(self):
        """Returns how large a file is to be."""
        draw = self.chance.random()
        whole = PAGE * (self.chance.randrange(1, 9) if draw < 0.8 else self.chance.randrange(64, 700))
        return whole + (self.chance.randrange(LEAST_TAIL, PAGE) if self.chance.random() < 0.5 else 0)

    def new_version(self):
        """Returns the number of a version that there was never before."""
        self.versions += 1
        return self.versions

    # --- making

    def make_file(self, directory, name, path, size, when=None, replace=False, rights=None):
        """Makes a file aside and moves it to its place at once."""
        self.numbers += 1
        entry = Entry(self.numbers, "f")
        whole = os.path.join(self.root, path)
        content = Content(size, [(0, size, entry.number, self.new_version())])
        with open(self.stage, "wb") as out:
            out.write(pages(entry.number, content.segments[0][3], 0, size))
        mode, uid, gid, acl = rights or self.some_rights()
        os.chown(self.stage, uid, gid)
        os.chmod(self.stage, mode)
        if acl is not None:
            os.setxattr(self.stage, ACCESS_ACL, acl)
        os.utime(self.stage, ns=(when, when) if when is not None else (_EPOCH, _EPOCH))
        entry.content = content
        gone = directory.children.get(name)
        news = lambda: self.news(entry, path) + [
            ("content", entry.number, content.plain()),
            ("child", directory.number, (name, entry.number)),
            *touched(gone),
        ]
        if self.change("replace" if replace else "create", path, lambda: os.rename(self.stage, whole), news):
            directory.children[name] = entry

    def some_rights(self):
        """Returns rights at random."""
        acl = self.acl() if self.chance.random() < 0.3 else None
        return self.chance.choice(MODES), self.chance.choice(UIDS), self.chance.choice(GIDS), acl

    def news(self, entry, path):
        """Returns the deltas of what is new."""
        return [("new", entry.number, (entry.kind, entry.target))] + self.rights(entry, path)

    def create(self):
        """A new file."""
        directory, path = self.directory()
        name = self.free(directory, FILES)
        if name and self.room():
            self.make_file(directory, name, os.path.join(path, name), self.size())

    def room(self):
        """Tells whether there may be more."""
        return sum(1 for _ in self.entries()) < _MANY

    def create_huge(self):
        """A file that has more items than can be counted, with some bytes of its own far out."""
        directory, path = self.directory()
        name = self.free(directory, ("h",))
        if not name or not self.room():
            return
        path = os.path.join(path, name)
        self.make_file(directory, name, path, PAGE)
        entry = directory.children[name]
        for size in (HUGE, 1 << 43):
            grown = entry.content.truncated(size)
            told = lambda: [("content", entry.number, grown.plain())]
            try:
                if self.change("truncate", path, lambda: os.truncate(os.path.join(self.root, path), size), told):
                    entry.content = grown
                    break
            except OSError:
                continue
        for _ in range(4):
            self.write_far(entry, path)

    def write_far(self, entry, path):
        """Writes pages where an item's number may run over."""
        step = (1 << 24) * ITEM
        most = entry.content.size // step
        at = self.chance.randrange(1, min(most, 64)) * step if most > 1 else entry.content.size // 2
        at += self.chance.randrange(4) * PAGE
        self.write_page(entry, path, at)

    def write_page(self, entry, path, at):
        """Writes a page, which may make the file longer."""
        written = entry.content.written(at, at + PAGE, entry.number, self.new_version())
        version = self.versions
        call = lambda: overwrite(os.path.join(self.root, path), at, pages(entry.number, version, at, at + PAGE))
        told = lambda: [("content", entry.number, written.plain()), ("written", entry.number, None)]
        if self.change("write", path, call, told):
            entry.content = written

    def make_directory(self):
        """A new directory."""
        directory, path = self.directory()
        name = self.free(directory, DIRECTORIES)
        if not name or not self.room() or path.count("/") >= DEPTH - 1:
            return
        path = os.path.join(path, name)
        self.numbers += 1
        entry = Entry(self.numbers, "d")
        told = lambda: self.news(entry, path) + [("child", directory.number, (name, entry.number))]
        user = self.actor()
        if self.change("mkdir", path, lambda: os.mkdir(os.path.join(self.root, path), 0o755), told, user):
            directory.children[name] = entry
            entry.parent, entry.name = directory, name

    def link(self):
        """A new symbolic link, which may lead nowhere or out."""
        directory, path = self.directory()
        name = self.free(directory, LINKS)
        if not name or not self.room():
            return
        target = self.chance.choice(("f0", "x", "x/f1", "a/f2", "v/x", "/nonexistent/f0", "x.old"))
        self.make_link(directory, name, os.path.join(path, name), target)

    def make_link(self, directory, name, path, target):
        """Makes a symbolic link."""
        self.numbers += 1
        entry = Entry(self.numbers, "l", target)
        told = lambda: self.news(entry, path) + [("child", directory.number, (name, entry.number))]
        if self.change("symlink", path, lambda: os.symlink(target, os.path.join(self.root, path)), told):
            directory.children[name] = entry

    def hard_link(self):
        """Another name of a file."""
        picked, (directory, path) = self.pick("f"), self.directory()
        name = self.free(directory, FILES)
        if not picked or not name or not self.room():
            return
        entry, path = picked[2], os.path.join(path, name)
        call = lambda: os.link(os.path.join(self.root, picked[3]), os.path.join(self.root, path))
        told = lambda: [("child", directory.number, (name, entry.number)), ("touched", entry.number, None)]
        if self.change("link", path, call, told, self.actor()):
            directory.children[name] = entry

    # --- rights

    def chmod(self):
        """Other modes."""
        picked = self.pick("fd")
        if picked:
            _, _, entry, path = picked
            mode = self.chance.choice(MODES)
            whole = os.path.join(self.root, path)
            self.change("chmod", path, lambda: os.chmod(whole, mode), lambda: self.rights(entry, path), self.actor())

    def chown(self):
        """Another owner and group."""
        picked = self.pick("fdl")
        if picked:
            _, _, entry, path = picked
            uid, gid = self.chance.choice(UIDS), self.chance.choice(GIDS)
            whole = os.path.join(self.root, path)
            self.change("chown", path, lambda: os.lchown(whole, uid, gid), lambda: self.rights(entry, path))

    def set_acl(self):
        """Another list of rights, or one that new files below will have, or none."""
        picked = self.pick("fd")
        if not picked:
            return
        _, _, entry, path = picked
        whole = os.path.join(self.root, path)
        name = DEFAULT_ACL if entry.kind == "d" and self.chance.random() < 0.2 else ACCESS_ACL
        value = self.acl()
        call = lambda: os.setxattr(whole, name, value)
        if self.chance.random() < 0.3:
            call = lambda: os.removexattr(whole, name)
        self.change("setfacl", path, call, lambda: self.rights(entry, path), self.actor())

    def set_attribute(self):
        """Another value of an extended attribute."""
        picked = self.pick("fd")
        if picked:
            _, _, entry, path = picked
            value = b"%d" % self.new_version()
            whole = os.path.join(self.root, path)
            told = lambda: [("attribute", entry.number, value)]
            self.change("setxattr", path, lambda: os.setxattr(whole, ATTRIBUTE, value), told)

    # --- names

    def move(self, source, target, user=ROOT, what="rename"):
        """Moves (directory, name, entry, path) to (directory, name, path); tells whether it could."""
        directory, name, entry, path = source
        to, new_name, new_path = target
        call = lambda: os.rename(os.path.join(self.root, path), os.path.join(self.root, new_path))
        gone = to.children.get(new_name)
        told = lambda: [
            ("child", directory.number, (name, 0)),
            ("child", to.number, (new_name, entry.number)),
            ("touched", entry.number, None),
            *touched(gone),
        ]
        if not self.change(what, new_path, call, told, user):
            return False
        self.board.changed(path)
        del directory.children[name]
        to.children[new_name] = entry
        if entry.kind == "d":
            entry.parent, entry.name = to, new_name
        return True

    def rename(self):
        """Another name, also one that is taken, in another directory."""
        picked, (directory, path) = self.pick("fl"), self.directory()
        name = self.chance.choice(FILES if picked and picked[2].kind == "f" else LINKS)
        taken = directory.children.get(name)
        if picked and taken is not picked[2] and not (taken and taken.kind == "d"):
            self.move(picked, (directory, name, os.path.join(path, name)), self.actor())

    def swap_directories(self):
        """mv x x.old; mv v x"""
        directories = [each for each in self.entries() if each[2].kind == "d"]
        if len(directories) < 2:
            return
        old, new = self.chance.sample(directories, 2)
        spare = self.free(old[0], ("x.old", "v"))
        if not spare or is_below(old[2], new[2]) or is_below(new[2], old[2]):
            return
        aside = os.path.join(old[0].path(), spare)
        if self.move(old, (old[0], spare, aside), what="rename directory"):
            new = (new[2].parent, new[2].name, new[2], new[2].path())
            self.move(new, (old[0], old[1], os.path.join(old[0].path(), old[1])), what="rename directory")

    def swap_with_link(self):
        """A directory becomes a symbolic link to where it is now, or a link a directory."""
        picked = self.pick("d")
        if not picked:
            return
        directory, name, entry, path = picked
        spare = self.free(directory, ("x.old", "v"))
        if spare:
            if self.move(picked, (directory, spare, os.path.join(directory.path(), spare)), what="rename directory"):
                self.make_link(directory, name, path, spare)
            return
        links = [each for each in directory.children.items() if each[1].kind == "l" and each[0] in DIRECTORIES]
        for other, link in links:
            self.remove((directory, other, link, os.path.join(directory.path(), other)))

    def unlink(self):
        """One name less."""
        picked = self.pick("fl")
        if picked:
            self.remove(picked, self.actor())

    def remove(self, picked, user=ROOT):
        """Removes (directory, name, entry, path); tells whether it could."""
        directory, name, entry, path = picked
        call = os.rmdir if entry.kind == "d" else os.unlink
        told = lambda: [("child", directory.number, (name, 0)), ("touched", entry.number, None)]
        if not self.change("unlink", path, lambda: call(os.path.join(self.root, path)), told, user):
            return False
        del directory.children[name]
        return True

    def remove_all(self, picked):
        """Removes a directory and all below it."""
        below = [(picked[2], n, e, os.path.join(picked[3], n)) for n, e in picked[2].children.items()]
        for each in below:
            if each[2].kind == "d":
                self.remove_all(each)
            else:
                self.remove(each)
        self.remove(picked)

    # --- contents

    def replace(self):
        """Another file in the place of one, by a rename; of the same size and time, maybe."""
        picked = self.pick("f")
        if picked:
            directory, name, entry, path = picked
            seen = os.lstat(os.path.join(self.root, path))
            same = self.chance.random() < 0.5 and entry.content.size < 64 * ITEM
            size = entry.content.size if same else self.size()
            rights = self.shown(path) if self.chance.random() < 0.5 else None
            self.make_file(directory, name, path, size, seen.st_mtime_ns if same else None, True, rights)

    def recreate(self):
        """rm; tar -x: the same name, size and time, and on many file systems the same inode number."""
        picked = self.pick("f")
        if not picked or picked[2].content.size > 64 * ITEM:
            return
        directory, name, entry, path = picked
        seen = os.lstat(os.path.join(self.root, path))
        rights = self.shown(path) if self.chance.random() < 0.5 else None
        if self.remove(picked):
            self.make_file(directory, name, path, entry.content.size, seen.st_mtime_ns, False, rights)

    def rewrite(self):
        """cp -p: in place, with the time of before."""
        picked = self.pick("f")
        if not picked or picked[2].content.size > 64 * ITEM:
            return
        _, _, entry, path = picked
        whole = os.path.join(self.root, path)
        size = entry.content.size
        content = Content(size, [(0, size, entry.number, self.new_version())] if size else ())
        data = pages(entry.number, self.versions, 0, size)
        when = os.lstat(whole).st_mtime_ns

        def call():
            overwrite(whole, 0, data)
            os.utime(whole, ns=(when, when))

        told = lambda: [("content", entry.number, content.plain()), ("written", entry.number, None)]
        if self.change("rewrite", path, call, told):
            entry.content = content

    def truncate(self):
        """Another size."""
        picked = self.pick("f")
        if not picked or picked[2].content.size > 64 * ITEM:
            return
        _, _, entry, path = picked
        changed = entry.content.truncated(self.size())
        if changed.size > entry.content.size and any(end % PAGE for _, end, _, _ in entry.content.segments):
            return  # a page that is half a hole tells nothing
        call = lambda: os.truncate(os.path.join(self.root, path), changed.size)
        told = lambda: [("content", entry.number, changed.plain())]
        if self.change("truncate", path, call, told, self.actor()):
            entry.content = changed

    def write(self):
        """A page more, or another one somewhere in a huge file."""
        picked = self.pick("f")
        if not picked:
            return
        _, _, entry, path = picked
        if entry.content.size > 64 * ITEM:
            self.write_far(entry, path)
        elif entry.content.size % PAGE == 0:
            self.write_page(entry, path, entry.content.size)

    def clear(self):
        """Removes a directory with what is in it."""
        picked = self.pick("d")
        if picked and self.chance.random() < 0.3:
            self.remove_all(picked)


WEIGHTS = {
    Changer.chmod: 12,
    Changer.chown: 5,
    Changer.set_acl: 9,
    Changer.set_attribute: 3,
    Changer.create: 9,
    Changer.create_huge: 1,
    Changer.make_directory: 6,
    Changer.link: 3,
    Changer.hard_link: 3,
    Changer.rename: 8,
    Changer.swap_directories: 7,
    Changer.swap_with_link: 3,
    Changer.unlink: 4,
    Changer.replace: 10,
    Changer.recreate: 9,
    Changer.rewrite: 9,
    Changer.truncate: 4,
    Changer.write: 4,
    Changer.clear: 1,
}


@contextlib.contextmanager
def acting(user):
    """Has this process act as a user."""
    if user.uid == 0:
        yield
        return
    os.setgroups(user.groups)
    os.setegid(user.gid)
    os.seteuid(user.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(())


def is_below(entry, above):
    """Tells whether an entry is another one, or below it."""
    while entry is not None:
        if entry is above:
            return True
        entry = entry.parent
    return False


def touched(entry):
    """Returns the delta of an inode that has a name less."""
    return [("touched", entry.number, None)] if entry is not None else []


def overwrite(path, at, data):
    """Writes into a file in place, at once."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        if os.pwrite(descriptor, data, at) != len(data):
            raise OSError(errno.ENOSPC, "short write", path)
    finally:
        os.close(descriptor)
