"""Contents that describe themselves: each page of 4 KiB tells its file, its version and its number.

A page that belongs to another file, another version or another place is recognised, whoever reads it
wherever. Pages of zeros are holes.
"""

import functools
import hashlib
import struct

PAGE = 4096
LEAST_TAIL = 64
_HEAD = struct.Struct("<8sQQQ")
_MAGIC = b"HOLDFAST"
_ZEROS = bytes(PAGE)

# a run of pages has this in place of the number of a file
HOLE = 0
GARBAGE = -1


@functools.lru_cache(maxsize=512)
def _body(file, version):
    return hashlib.shake_128(b"%d %d" % (file, version)).digest(PAGE - _HEAD.size)


def page(file, version, number):
    """Returns the bytes of a page."""
    return _HEAD.pack(_MAGIC, file, version, number) + _body(file, version)


def pages(file, version, start, end):
    """Returns the bytes of a file's version from one offset, which begins a page, to another."""
    whole = b"".join(page(file, version, n) for n in range(start // PAGE, -(-end // PAGE)))
    return whole[: end - start]


def _kind(offset, data):
    if data == _ZEROS[: len(data)]:
        return HOLE, 0
    if len(data) < _HEAD.size:
        return GARBAGE, "%d bytes, less than a head: %s" % (len(data), data.hex())
    magic, file, version, number = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        return GARBAGE, "no stamp: " + data[:32].hex()
    if data != page(file, version, number)[: len(data)]:
        return GARBAGE, "a torn page: file %d version %d page %d" % (file, version, number)
    if number != offset // PAGE:
        return GARBAGE, "another place: file %d version %d page %d" % (file, version, number)
    return file, version


def runs(offset, data):
    """Returns what was read at an offset that begins a page, as (file, version, start, end) in order."""
    found = []
    for at in range(0, len(data), PAGE):
        part = data[at : at + PAGE]
        file, version = _kind(offset + at, part)
        start, end = offset + at, offset + at + len(part)
        if found and found[-1][:2] == (file, version) and found[-1][3] == start:
            start = found.pop()[2]
        found.append((file, version, start, end))
    return found


class Content:
    """What a file holds: a size, and segments (start, end, file, version); the rest is holes. Immutable."""

    __slots__ = ("size", "segments")

    def __init__(self, size, segments):
        self.size = size
        self.segments = tuple(sorted(segments))

    def plain(self):
        """Returns it in types that can be sent."""
        return self.size, self.segments

    def truncated(self, size):
        """Returns it with another size; what is added is a hole, what was cut off does not come back."""
        kept = [(s, min(e, size), f, v) for s, e, f, v in self.segments if s < size]
        return Content(size, kept)

    def written(self, start, end, file, version):
        """Returns it with another segment, which may replace one at the same place, but not a part of one."""
        kept = [each for each in self.segments if each[0] != start]
        return Content(max(self.size, end), kept + [(start, end, file, version)])

    def holds(self, run):
        """Tells whether a run of pages is what it holds there."""
        file, version, start, end = run
        if end > self.size:
            return False
        if file == HOLE:
            return all(e <= start or s >= end for s, e, _, _ in self.segments)
        return any(s <= start and end <= e and (f, v) == (file, version) for s, e, f, v in self.segments)

    def holds_all(self, found):
        """Tells whether it holds all of the runs."""
        return all(self.holds(run) for run in found)
