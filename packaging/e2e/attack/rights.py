"""Who may do what: modes and POSIX ACLs as Linux takes them."""

import struct
from typing import NamedTuple, Optional, Tuple

READ, WRITE, SEARCH = 4, 2, 1

USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
ACCESS_ACL = "system.posix_acl_access"
DEFAULT_ACL = "system.posix_acl_default"
_VERSION = 2
_NOBODY = 0xFFFFFFFF


class User(NamedTuple):
    """Who asks."""

    uid: int
    gid: int
    groups: Tuple[int, ...]

    def is_in(self, gid):
        """Tells whether the user is a member of a group."""
        return gid == self.gid or gid in self.groups


class Rights(NamedTuple):
    """What an inode shows of its rights."""

    mode: int
    uid: int
    gid: int
    acl: Optional[bytes]


def encode(entries):
    """Returns entries (tag, permissions, id or None) as the value of the extended attribute."""
    ordered = sorted(entries, key=lambda e: (e[0], -1 if e[2] is None else e[2]))
    return struct.pack("<I", _VERSION) + b"".join(
        struct.pack("<HHI", tag, perm, _NOBODY if who is None else who) for tag, perm, who in ordered
    )


def decode(value):
    """Returns the entries of such a value, in their order."""
    return [struct.unpack_from("<HHI", value, at) for at in range(4, len(value), 8)]


def _by_list(value, rights, user, want):
    entries = decode(value)
    mask = next((perm for tag, perm, _ in entries if tag == MASK), 7)
    found = False
    for tag, perm, who in entries:
        if tag == USER_OBJ and user.uid == rights.uid:
            return perm & want == want
        if tag == USER and who == user.uid:
            return perm & mask & want == want
        if (tag == GROUP_OBJ and user.is_in(rights.gid)) or (tag == GROUP and user.is_in(who)):
            found = True
            if perm & want == want:
                return perm & mask & want == want
        if tag == OTHER:
            return not found and perm & want == want
    return False


def permits(rights, user, want, is_directory):
    """Tells whether the kernel lets a user have what is wanted of an inode."""
    mode = rights.mode
    if user.uid == 0:
        return is_directory or not want & SEARCH or bool(mode & 0o111)
    if user.uid == rights.uid:
        return (mode >> 6) & want == want
    # a list whose mask is empty is not looked at
    if rights.acl is not None and mode & 0o070:
        return _by_list(rights.acl, rights, user, want)
    if user.is_in(rights.gid):
        return (mode >> 3) & want == want
    return mode & want == want
