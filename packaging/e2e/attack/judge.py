"""Judges each look by the states that the origin was in.

Through the mount a user may see what the origin would have let them have at some moment since what the
mount may believe: one ttl ago, or since the last refresh began that has ended. A walk along a path may
have made each of its steps at a moment of its own, in order, as a process does that holds descriptors of
directories.
At the origin the same is checked without that time: there a difference is an error of this model.
"""

import collections
import errno
import os

from common import MILLI, SECOND, USERS
from readers import MOUNT, ORIGIN
from rights import GROUP, GROUP_OBJ, OTHER, READ, SEARCH, USER, USER_OBJ, WRITE, Rights, decode, encode, permits
from stamps import GARBAGE, HOLE

# Two ticks of the kernel's clock at 100 Hz, and the time between the daemon's question at the origin
# and the kernel's receipt of the answer: no longer than the longest call, or this.
SLACK = 100 * MILLI
_TICK = 20 * MILLI
# A writer who pauses for longer halfway may be caught in the act (SEMANTICS).
_SETTLES = 80 * MILLI
_SHOWN = 6
_CHANGES = 12
_FOLLOWS = {"stat": False, "readlink": False}
_RACES = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENODATA, errno.EOPNOTSUPP)
_BY_UID = {user.uid: user for user in USERS}


class Judge:
    """For one origin and its mount."""

    def __init__(self, history, settings):
        self.history = history
        self.ttl = settings.ttl
        self.exact_lists = settings.exact_lists
        self.label = settings.label
        self.refreshes = collections.deque(maxlen=64)
        self.slow = collections.deque(maxlen=4096)
        self.violations = collections.Counter()
        self.looks = collections.Counter()
        self.errors = collections.Counter()
        self.comparisons = 0
        self.longest = 0
        self.changes = collections.deque(maxlen=200_000)

    # --- time

    def believed_since(self, moment):
        """Returns since when the mount may believe at a moment what it says."""
        base = moment - self.ttl - _TICK
        done = [begin for begin, end in self.refreshes if end <= moment]
        if done:
            base = max(base, done[-1])
        calls = [begin for begin, end in self.slow if end >= base and begin <= moment]
        return min([base - SLACK + _TICK] + calls)

    def note_time(self, look):
        """Writes down a call that took long."""
        begin, end = look[3], look[4]
        if look[0] == MOUNT and end - begin > SLACK // 2:
            self.slow.append((begin, end))
            self.longest = max(self.longest, end - begin)

    # --- verdicts

    def judge(self, uid, look):
        """Judges a look."""
        side, call, path, begin, end, error, result = look
        user = _BY_UID[uid]
        parts = tuple(path.split("/")) if path else ()
        since = self.believed_since(begin) if side == MOUNT else begin
        states = self.history.states(since, end)
        self.comparisons += 1
        outcome = "allowed" if not error else errno.errorcode.get(error, str(error))
        self.looks[("mount" if side == MOUNT else "origin", call, outcome)] += 1
        seen = _Seen(user, look, parts, states)
        if error:
            self.judge_refusal(seen, error)
        elif call == "read":
            self.judge_reads(seen, *result)
        else:
            self.judge_answer(seen, result)

    def judge_refusal(self, seen, got):
        """What was refused must have been so, unless it was being changed."""
        expected, stable, listed = self.stable(seen)
        if not stable:
            if got not in _RACES:
                self.errors[(seen.call, errno.errorcode.get(got, str(got)))] += 1
            return
        if got == expected or (expected == errno.ENODATA and got == errno.EOPNOTSUPP and seen.side == MOUNT):
            return
        if got == errno.EACCES and seen.side == MOUNT and listed and not self.exact_lists:
            self.errors[(seen.call, "EACCES, stricter")] += 1
            return
        what = "denied or gone without a cause" if got in _RACES else "error without a cause"
        self.violation(what, seen, "%s instead of %s" % (name_of(got), name_of(expected)))

    def stable(self, seen):
        """Returns the error expected, whether nothing of it changed in that time, and whether lists play a part."""
        first, last = seen.states
        want, follow = wanted(seen), _FOLLOWS.get(seen.call, True)
        error, node, way, until = self.history.exact(seen.parts, seen.user, first, want, follow)
        touched = min([each.touched.next(first) for each in way])
        listed = any(each.rights.at(first).acl is not None for each in way)
        if node is not None and (not error or (seen.call == "list" and node.kind != "d")):
            error = missing(seen, node, first)
        return error, until > last and touched > last, listed

    def reached(self, seen, in_order=True):
        """Returns the nodes that the path may lead to, each with the earliest state."""
        follow = _FOLLOWS.get(seen.call, True)
        return self.history.walk(seen.parts, seen.user, seen.states, follow, in_order)

    def judge_answer(self, seen, result):
        """What was answered must have been so at some moment."""
        self.judge_access(seen, lambda node, state, last: answers(self, seen, node, state, last, result), str(result))

    def judge_access(self, seen, accepts, shown):
        """Looks for a way to what was seen; tells whether there is one."""
        last = seen.states[1]
        reached = self.reached(seen)
        if any(accepts(node, state, last) for node, state in reached.items()):
            return True
        mixed = self.reached(seen, in_order=False)
        if any(accepts(node, seen.states[0], last) for node in mixed):
            if self.permitted(seen, reached):
                self.errors[(seen.call, "permitted, and as it was before")] += 1
                return True
            self.violation("rights of different moments", seen, shown)
        elif reached:
            self.violation("never so at that time", seen, shown)
        else:
            self.violation("allowed what the origin denied", seen, shown)
        return False

    def permitted(self, seen, reached):
        """Tells whether the call was permitted, whatever it gave."""
        last, want = seen.states[1], wanted(seen)
        return any(
            node.permits(at, seen.user, want)
            for node, state in reached.items()
            for at, _ in node.rights.within(state, last)
        )

    # --- contents

    def judge_reads(self, seen, is_directory, reads):
        """An open file: allowed to be opened, and all bytes of one version that it had at that time."""
        last = self.history.states(0, max([seen.look[4]] + [read[4] for read in reads]))[1]
        openable = lambda node, state, _: bool(self.opened(seen, node, state))
        if not self.judge_access(seen, openable, "opened"):
            return
        if is_directory:
            return
        done = [read for read in reads if not read[5]]
        for read in reads:
            self.looks[("mount" if seen.side == MOUNT else "origin", read[0], name_of(read[5]))] += 1
            if read[5]:
                self.judge_failed_read(seen, read)
        if not done:
            return
        contents = self.contents(seen, last)
        if any(all(fits(content, read) for read in done) for _, _, content in contents):
            return
        before = self.contents(seen, last, in_order=False)
        if any(all(fits(content, read) for read in done) for _, _, content in before):
            self.errors[(seen.call, "permitted, and as it was before")] += 1
            return
        self.tell_bad_reads(seen, done, contents)

    def opened(self, seen, node, state):
        """Returns the earliest state in which it could be opened, or None."""
        for at, _ in node.rights.within(state, seen.states[1]):
            if node.permits(at, seen.user, READ):
                return (at,)
        return None

    def contents(self, seen, last, in_order=True):
        """Returns (node, state, content) for all that the file may have held then."""
        found = []
        for node, state in self.reached(seen, in_order).items():
            opened = self.opened(seen, node, state if in_order else seen.states[0])
            if opened and node.kind == "f":
                first = opened[0] if in_order else seen.states[0]
                found += [(node, at, content) for at, content in node.content.within(first, last)]
        return found

    def judge_failed_read(self, seen, read):
        """An error of a read must have a cause."""
        _, _, way, until = self.history.exact(seen.parts, seen.user, seen.states[0], READ, True)
        last = self.history.states(read[3], read[4])[1]
        if until > last and min(each.touched.next(seen.states[0]) for each in way) > last:
            self.violation("error without a cause", seen, "%s of %s at %d" % (name_of(read[5]), read[0], read[1]))
        else:
            self.errors[(read[0], name_of(read[5]))] += 1

    def tell_bad_reads(self, seen, done, contents):
        """Says what is wrong with reads that fit no content."""
        nodes = {node.number: node for node, _, _ in contents}
        for read in done:
            if any(fits(content, read) for _, _, content in contents):
                continue
            if any(self.was_written(node, seen, read) for node in nodes.values()):
                self.errors[(read[0], "caught a writer in the act")] += 1
                return
            self.violation(wrong(read, contents, nodes), seen, tell(read, contents))
            return
        if seen.side == ORIGIN:
            return  # there an open file goes on with what is written into it
        self.violation("two versions in one open file", seen, " then ".join(tell(read, ()) for read in done[:4]))

    def was_written(self, node, seen, read):
        """Tells whether a read may have met a writer in place halfway."""
        if seen.side == ORIGIN:
            return any(b <= read[4] and e >= seen.look[3] for b, e in node.written)
        since = self.believed_since(seen.look[3])
        return any(e - b > _SETTLES and b <= read[4] and e >= since for b, e in node.written)

    # --- telling

    def violation(self, what, seen, shown):
        """Counts a violation, and shows the first ones."""
        if seen.side == ORIGIN:
            what = "THE MODEL IS WRONG: " + what
        self.violations[what] += 1
        if self.violations[what] > _SHOWN:
            return
        first, last = seen.states
        print(
            "VIOLATION %s: %s\n  uid %d, %s %s through the %s, from %.3f to %.3f s: %s"
            % (self.label, what, seen.user.uid, seen.call, "/".join(seen.parts) or ".",
               "origin" if seen.side == ORIGIN else "mount", seen.look[3] / SECOND, seen.look[4] / SECOND, shown)
        )
        for state in sorted({first, last}):
            error, node, way, _ = self.history.exact(
                seen.parts, seen.user, state, wanted(seen), _FOLLOWS.get(seen.call, True)
            )
            rights = " / ".join("%s %s" % (each, show_rights(each.rights.at(state))) for each in way)
            begin, end = self.history.times(state)
            print(
                "  origin after change %d (%.3f to %.3f s): %s; %s" % (state, begin / SECOND, end / SECOND, name_of(error), rights)
            )
        since = self.believed_since(seen.look[3]) - SECOND
        changes = [each for each in self.changes if since <= each[1] and each[0] <= seen.look[4]]
        for begin, end, what in [each for each in changes if concerns(each[2], seen.parts)][-_CHANGES:]:
            print("    %.3f to %.3f s: %s" % (begin / SECOND, end / SECOND, what))
        self.flush()

    @staticmethod
    def flush():
        """Lets others see it."""
        print(end="", flush=True)


class _Seen:
    """A look, and what it is compared with."""

    __slots__ = ("user", "look", "parts", "states", "call", "side")

    def __init__(self, user, look, parts, states):
        self.user, self.look, self.parts, self.states = user, look, parts, states
        self.side, self.call = look[0], look[1]


def wanted(seen):
    """Returns the right that a call needs to what it leads to."""
    if seen.call in ("read", "list", "attribute"):
        return READ
    if seen.call == "access" and seen.look[6] is not None:
        return seen.look[6]
    return 0


def missing(seen, node, state):
    """Returns the error of a call that the rights permit."""
    if seen.call == "list" and node.kind != "d":
        return errno.ENOTDIR
    if seen.call == "readlink" and node.kind != "l":
        return errno.EINVAL
    if seen.call == "acl" and node.rights.at(state).acl is None:
        return errno.ENODATA
    if seen.call == "attribute" and node.attribute.at(state) is None:
        return errno.ENODATA
    return 0


def answers(judge, seen, node, state, last, result):
    """Tells whether an inode may have given an answer in one of the states."""
    call = seen.call
    if call == "stat":
        return any(shows(node, at, result, seen.side) for at in moments((node.rights, node.content), state, last))
    if call == "readlink":
        return node.kind == "l" and node.target == result
    if call == "access":
        return any(node.permits(at, seen.user, result) for at, _ in node.rights.within(state, last))
    if call == "acl":
        held = [rights for _, rights in node.rights.within(state, last)]
        if any(result in (rights.acl, same_list(rights)) for rights in held):
            return True
        # while anything on the way changes, a list of three entries may stand for the one that is not known then
        changing = seen.side == MOUNT and not judge.stable(seen)[1]
        return changing and any(is_stricter(result, rights, node.kind == "d") for rights in held)
    allowed = [at for at, _ in node.rights.within(state, last) if node.permits(at, seen.user, READ)]
    if not allowed:
        return False
    if call == "attribute":
        return any(value == result for _, value in node.attribute.within(allowed[0], last))
    return node.kind == "d" and lists(node, result, allowed[0], last)


def is_stricter(acl, rights, is_directory):
    """Tells whether a list without named users and groups gives nobody what an inode's rights do not."""
    if any(tag in (USER, GROUP) for tag, _, _ in decode(acl)):
        return False
    perms = {tag: perm for tag, perm, _ in decode(acl)}
    # the owner's rights are the mode's
    mode = rights.mode & 0o700 | perms[GROUP_OBJ] << 3 | perms[OTHER]
    shown = Rights(mode, rights.uid, rights.gid, None)
    return not perms[USER_OBJ] & ~(rights.mode >> 6) and all(
        permits(rights, user, want, is_directory)
        for user in USERS
        for want in (READ, WRITE, SEARCH)
        if permits(shown, user, want, is_directory)
    )


def same_list(rights):
    """Returns the list that says what the mode of an inode without one says."""
    if rights.acl is not None:
        return None
    mode = rights.mode
    return encode([(USER_OBJ, mode >> 6 & 7, None), (GROUP_OBJ, mode >> 3 & 7, None), (OTHER, mode & 7, None)])


def moments(cells, first, last):
    """Yields the states in which one of the values changed."""
    state = max([first] + [since for cell in cells for since in cell.since[:1]])
    while state <= last:
        yield state
        state = min(cell.next(state) for cell in cells)


def shows(node, state, result, side):
    """Tells whether attributes are those of a state; the mount's modes may be stricter."""
    kind, mode, uid, gid, size = result
    rights, content = node.rights.at(state), node.content.at(state)
    if kind != node.kind or (uid, gid) != (rights.uid, rights.gid):
        return False
    if mode & ~rights.mode or (side == ORIGIN and mode != rights.mode):
        return False
    return kind != "f" or content.size == size


def lists(node, names, first, last):
    """Tells whether names are what a directory had in some of the states: once, all that it had in all of them."""
    known = set()
    for name, cell in node.children.items():
        children = [cell.at(first)] + [child for _, child in cell.within(first, last)]
        there = [child is not None for child in children]
        # a name that goes and comes back may be met twice on the way through a directory, and so may one whose
        # file changes meanwhile: to the mount that is another file, which comes last (SEMANTICS)
        changes = len(there) > 2 or any(child is not None and child.touched.next(first) <= last for child in children)
        if all(there) and names.count(name) != 1 and (name not in names or not changes):
            return False
        if any(there):
            known.add(name)
    return known.issuperset(names)


def fits(content, read):
    """Tells whether a read gave what a content has there."""
    style, at, length, _, _, _, got, found = read
    expected = max(0, min(length, content.size - at))
    if got > expected or (got == 0 and expected > 0 and style != "mapped"):
        return False
    return content.holds_all(found)


def wrong(read, contents, nodes):
    """Returns the kind of a violation."""
    found = read[7]
    if any(run[0] == GARBAGE for run in found):
        return "bytes of no version"
    if any(run[0] != HOLE and run[0] not in nodes for run in found):
        return "FOREIGN BYTES"
    if all(any(content.holds(run) for _, _, content in contents) for run in found) and len(found) > 1:
        return "two versions in one read"
    if not found:
        return "an end of the file that it never had"
    return "stale or lost bytes"


def tell(read, contents):
    """Returns a read in words."""
    found = ", ".join("%s version %s at %d to %d" % (run[0], run[1], run[2], run[3]) for run in read[7][:4])
    held = "; ".join(
        "%r state %d: size %d %s" % (node, at, content.size, content.segments[:2]) for node, at, content in contents[:3]
    )
    return "%s at %d gave %d bytes: %s%s" % (read[0], read[1], read[6], found, "; may hold " + held if held else "")


def concerns(what, parts):
    """Tells whether a change was on the way to a path."""
    path = what.split(" ")[-1]
    return not path or "/".join(parts[: path.count("/") + 1]) == path


def show_rights(rights):
    """Returns rights in words."""
    acl = "" if rights.acl is None else " acl " + rights.acl[4:].hex()
    return "%04o %d:%d%s" % (rights.mode, rights.uid, rights.gid, acl)


def name_of(error):
    """Returns the name of an error."""
    return errno.errorcode.get(error, str(error)) if error else "ok"
