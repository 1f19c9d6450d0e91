"""All states that the origin was in: after each change that the suite made, in order.

State 0 is before the first change, state k after the k-th. A change goes on from its beginning to its
end, and at each moment of that the origin is in the state before or after it.
"""

import bisect
import errno

from rights import READ, SEARCH, Rights, permits
from stamps import Content

NEVER = 1 << 62
_MOST_LINKS = 40


class Cell:
    """A value with the states since which it was there."""

    __slots__ = ("since", "values")

    def __init__(self):
        self.since = []
        self.values = []

    def put(self, state, value):
        """Sets the value from a state on."""
        self.since.append(state)
        self.values.append(value)

    def at(self, state):
        """Returns the value in a state, None before the first one."""
        i = bisect.bisect_right(self.since, state) - 1
        return self.values[i] if i >= 0 else None

    def next(self, state):
        """Returns the first state after this one in which the value was set."""
        i = bisect.bisect_right(self.since, state)
        return self.since[i] if i < len(self.since) else NEVER

    def within(self, first, last):
        """Yields (state, value) for each value that was there in one of the states, if there was any."""
        state = max([first] + self.since[:1])
        while state <= last:
            yield state, self.at(state)
            state = self.next(state)

    def forget(self, state):
        """Forgets what was there before a state only."""
        i = bisect.bisect_right(self.since, state) - 1
        if i > 0:
            del self.since[:i]
            del self.values[:i]


class Node:
    """An inode of the origin."""

    __slots__ = ("number", "kind", "target", "rights", "content", "attribute", "children", "touched", "written")

    def __init__(self, number, kind, target):
        self.number = number
        self.kind = kind
        self.target = target
        self.rights = Cell()
        self.content = Cell()
        self.attribute = Cell()
        self.children = {}
        self.touched = Cell()
        self.written = []  # when it was being written in place, each with beginning and end

    def __repr__(self):
        return "%s%d" % (self.kind, self.number)

    def child(self, name):
        """Returns the cell of a name."""
        cell = self.children.get(name)
        if cell is None:
            cell = self.children[name] = Cell()
        return cell

    def permits(self, state, user, want):
        """Tells whether a user has a right to it in a state."""
        rights = self.rights.at(state)
        return rights is not None and permits(rights, user, want, self.kind == "d")


class History:
    """The states, when they were, and what a user could reach in them."""

    def __init__(self):
        self.nodes = {}
        self.begins = []
        self.ends = []
        self.first = 0
        self.root = None

    def add(self, begin, end, deltas):
        """Appends a change."""
        state = self.first + len(self.begins) + 1
        self.begins.append(begin)
        self.ends.append(end)
        for delta in deltas:
            self._apply(state, delta)

    def start(self, deltas):
        """Makes state 0."""
        for delta in deltas:
            self._apply(0, delta)
        self.root = self.nodes[1]

    def _apply(self, state, delta):
        what, number, value = delta
        if what == "new":
            self.nodes[number] = Node(number, *value)
            return
        node = self.nodes[number]
        node.touched.put(state, True)
        if what == "rights":
            node.rights.put(state, Rights(*value))
        elif what == "content":
            node.content.put(state, Content(*value))
        elif what == "attribute":
            node.attribute.put(state, value)
        elif what == "written":
            node.written.append((self.begins[-1], self.ends[-1]))
        elif what == "child":
            name, child = value
            node.child(name).put(state, self.nodes[child] if child else None)

    def last(self):
        """Returns the newest state."""
        return self.first + len(self.begins)

    def states(self, begin, end):
        """Returns the first and the last state that the origin may have been in at a time."""
        first = self.first + bisect.bisect_right(self.ends, begin)
        return first, max(first, self.first + bisect.bisect_right(self.begins, end))

    def times(self, state):
        """Returns when a change began and ended, in nanoseconds."""
        i = state - self.first - 1
        return (self.begins[i], self.ends[i]) if 0 <= i < len(self.begins) else (0, 0)

    def forget(self, moment):
        """Forgets what was over before a moment."""
        state = self.states(moment, moment)[0]
        for node in self.nodes.values():
            for cell in (node.rights, node.content, node.attribute, node.touched, *node.children.values()):
                cell.forget(state)
            node.written = [each for each in node.written if each[1] >= moment]
            for name in [n for n, c in node.children.items() if c.next(state) == NEVER and c.at(state) is None]:
                del node.children[name]
        cells = [cell for node in self.nodes.values() for cell in node.children.values()]
        kept = {child.number for cell in cells for child in cell.values if child is not None}
        self.nodes = {n: node for n, node in self.nodes.items() if n in kept or node is self.root}
        drop = state - self.first
        del self.begins[:drop]
        del self.ends[:drop]
        self.first = state

    def walk(self, path, user, states, follow, in_order=True):
        """Returns the nodes that a path may lead a user to, each with the earliest state of its arrival.

        Each step of the walk is made in a state of its own, in order: what a process that holds a
        descriptor of each directory on its way can do at the origin. A symlink gives no rights: such a
        process could have followed the link's path before there was the link, so what the link leads
        to may be as it was then. Not in_order, each step may be made in a state before that of the step
        before it, which no process can.
        """
        walk = _Walk(user, states, follow, in_order)
        walk.step(self.root, states[0], path, 0)
        return walk.found

    def exact(self, path, user, state, want, follow):
        """Returns (error or 0, node, nodes on the way, next state that may differ) of one state."""
        return _Exact(user, state).resolve(self.root, path, want, follow)


class _Walk:
    def __init__(self, user, states, follow, in_order):
        self.user = user
        self.first, self.last = states
        self.follow = follow
        self.in_order = in_order
        self.found = {}
        self.known = {}

    def step(self, node, state, parts, links):
        if not parts:
            self.found[node] = min(self.found.get(node, NEVER), state)
            return
        key = (node.number, parts)
        if node.kind != "d" or self.known.get(key, NEVER) <= state or links > _MOST_LINKS:
            return
        self.known[key] = state
        cell = node.child(parts[0])
        now = state if self.in_order else self.first
        while now <= self.last:
            child = cell.at(now)
            if child is not None and node.permits(now, self.user, SEARCH):
                if child.kind == "l" and (len(parts) > 1 or self.follow):
                    if not child.target.startswith("/"):
                        target = tuple(child.target.split("/"))
                        self.step(node, state, target + parts[1:], links + 1)
                else:
                    self.step(child, now, parts[1:], links)
            now = min(cell.next(now), node.rights.next(now))


class _Exact:
    def __init__(self, user, state):
        self.user = user
        self.state = state
        self.next = NEVER
        self.way = []

    def resolve(self, root, path, want, follow):
        error, node = self._lead(root, path, follow)
        if node is not None and want:
            self._depends(node.rights)
            if not node.permits(self.state, self.user, want):
                error = errno.EACCES
        return error, node, self.way, self.next

    def _depends(self, cell):
        self.next = min(self.next, cell.next(self.state))

    def _lead(self, node, parts, follow):
        links = 0
        self.way.append(node)
        while parts:
            if node.kind != "d":
                return errno.ENOTDIR, None
            self._depends(node.rights)
            if not node.permits(self.state, self.user, SEARCH):
                return errno.EACCES, None
            cell = node.child(parts[0])
            self._depends(cell)
            child = cell.at(self.state)
            if child is None:
                return errno.ENOENT, None
            self.way.append(child)
            parts = parts[1:]
            if child.kind == "l" and (parts or follow):
                links += 1
                if links > _MOST_LINKS:
                    return errno.ELOOP, None
                if child.target.startswith("/"):
                    return errno.ENOENT, None
                parts = tuple(child.target.split("/")) + parts
            else:
                node = child
        return 0, node
