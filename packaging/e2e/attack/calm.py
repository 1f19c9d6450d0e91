"""When nothing changes any more: all users see through the mount what they see at the origin."""

import errno
import marshal
import os
import select
import signal
import zlib

from changes import ITEM
from common import ATTRIBUTE, Stuck, become
from readers import MOUNT, ORIGIN, Opened, checked_access, kind
from rights import ACCESS_ACL, DEFAULT_ACL
from stamps import PAGE

_READ = 1 << 20
_FAR = (1 << 24) * ITEM


def compare(roots, users, exact_lists, tell):
    """Compares all that each user sees; returns how many comparisons were made, and those that failed."""
    paths = [""] + list(all_paths(roots[ORIGIN], ""))
    listed = {path for path in paths if has_list(roots[ORIGIN], path)}
    made = failed = 0
    for user in users:
        for path, call, origin, mount in as_user(user, lambda: list(looks(roots, paths))):
            made += 1
            if is_same(call, origin, mount):
                continue
            if not exact_lists and mount == ("EACCES",) and any(above in listed for above in ways(path)):
                continue
            failed += 1
            tell("uid %d, %s %s: %s at the origin, %s through the mount" % (user.uid, call, path or ".", origin, mount))
    return made, failed


def all_paths(root, above):
    """Yields all that is there, and names that are not."""
    for entry in sorted(os.scandir(os.path.join(root, above)), key=lambda e: e.name):
        path = os.path.join(above, entry.name)
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from all_paths(root, path)
    yield os.path.join(above, "none")


def has_list(root, path):
    """Tells whether a path has a list of rights, and so whether all below may be stricter."""
    try:
        os.getxattr(os.path.join(root, path), ACCESS_ACL, follow_symlinks=False)
        return True
    except OSError:
        return os.path.islink(os.path.join(root, path))  # it may lead to one that has


def ways(path):
    """Returns a path and those above it."""
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(len(parts) + 1)]


def as_user(user, call, seconds=600):
    """Returns the result of a call in a process of the user's, which must come in time."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(source)
            become(user)
            with os.fdopen(sink, "wb") as out:
                marshal.dump(call(), out)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(sink)
    with os.fdopen(source, "rb") as answer:
        # it is written at once, when the call is over
        if not select.select([answer], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
            raise Stuck("a call that does not end")
        data = answer.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        raise RuntimeError("a process of uid %d ended with %d" % (user.uid, status))
    return marshal.loads(data)


def looks(roots, paths):
    """Yields (path, call, result at the origin, result through the mount)."""
    calls = {
        "stat": stat,
        "list": lambda path: tuple(sorted(os.listdir(path))),
        "readlink": os.readlink,
        "access to read": lambda path: checked_access(path, os.R_OK),
        "access to execute": lambda path: checked_access(path, os.X_OK),
        "acl": lambda path: os.getxattr(path, ACCESS_ACL, follow_symlinks=False),
        "default acl": lambda path: os.getxattr(path, DEFAULT_ACL, follow_symlinks=False),
        "attribute": lambda path: os.getxattr(path, ATTRIBUTE),
        "read": read,
    }
    for path in paths:
        for name, call in calls.items():
            yield path, name, outcome(call, roots[ORIGIN], path), outcome(call, roots[MOUNT], path)


def outcome(call, root, path):
    """Returns ("ok", result) or the name of an error."""
    try:
        return "ok", call(os.path.join(root, path) if path else root)
    except OSError as e:
        return (errno.errorcode.get(e.errno, str(e.errno)),)


def stat(path):
    """What lstat(2) tells of what must be the same."""
    seen = os.lstat(path)
    size = seen.st_size if kind(seen.st_mode) != "d" else 0
    return kind(seen.st_mode), seen.st_mode & 0o7777, seen.st_uid, seen.st_gid, size, seen.st_mtime_ns, seen.st_nlink


def read(path):
    """A digest of a file's content: all of it, or where a huge one has or might have bytes."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        opened = Opened(descriptor, 0)
        size = os.fstat(opened.descriptor).st_size
        if size < _FAR:
            parts = range(0, min(size, 64 * _READ), _READ)
            return tuple(hash_of(os.pread(descriptor, _READ, at)) for at in parts)
        places = [step * _FAR for step in range(min(size // _FAR, 64))]
        return tuple(hash_of(os.pread(descriptor, 4 * PAGE, at)) for at in places)
    finally:
        os.close(descriptor)


def hash_of(data):
    """Returns a digest."""
    return zlib.crc32(data)


def is_same(call, origin, mount):
    """Tells whether the mount shows what the origin shows, or is stricter in its modes."""
    if origin == mount:
        return True
    if call in ("acl", "default acl") and mount == ("ENOTSUP",):
        return origin == ("ENODATA",)
    if call == "stat" and origin[0] == mount[0] == "ok":
        theirs, ours = origin[1], mount[1]
        return theirs[:1] + theirs[2:] == ours[:1] + ours[2:] and not ours[1] & ~theirs[1]
    return False
