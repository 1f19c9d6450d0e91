"""Calls that few programs make, on a file of the dataset and on the same one of the mount."""

import errno
import fcntl
import mmap
import os
import sys

origin, mount = (os.path.join(each, "verified") for each in sys.argv[1:3])
with open(origin, "rb") as file:
    content = file.read()


def same(what, got, begin=0, length=None):
    want = content[begin:] if length is None else content[begin : begin + length]
    if got != want:
        sys.exit(f"{what}: {len(got)} bytes differ from the dataset's {len(want)}")


fd = os.open(mount, os.O_RDONLY)
size = os.fstat(fd).st_size
for access in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
    with mmap.mmap(fd, size, flags=access, prot=mmap.PROT_READ) as mapped:
        mapped.madvise(mmap.MADV_RANDOM)
        same("mmap at random", mapped[5_000_001:5_010_000], 5_000_001, 9_999)
        mapped.madvise(mmap.MADV_SEQUENTIAL)
        same("mmap", mapped[:])
with mmap.mmap(fd, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE) as mapped:
    mapped[0:5] = b"12345"
    same("a private change is nobody else's", os.pread(fd, 5, 0), 0, 5)

os.posix_fadvise(fd, 0, size, os.POSIX_FADV_WILLNEED)
os.posix_fadvise(fd, 0, size, os.POSIX_FADV_DONTNEED)
buffers = [bytearray(1000), bytearray(70_000)]
read = os.preadv(fd, buffers, 123)
same("preadv", bytes(buffers[0] + buffers[1])[:read], 123, read)
same("pread at the end", os.pread(fd, 100, size - 10), size - 10)
same("pread behind the end", os.pread(fd, 100, size), size)

target = os.open(os.path.dirname(origin) + "/../target", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
try:
    done = 0
    while done < size:
        done += os.sendfile(target, fd, done, size - done)
    same("sendfile", os.pread(target, size, 0))
    try:
        os.copy_file_range(fd, target, size)
        sys.exit("copy_file_range: copied between filesystems, which nobody relies on")
    except OSError as e:
        if e.errno != errno.EXDEV:  # what programs expect, and fall back to reading
            raise
finally:
    os.unlink(os.path.dirname(origin) + "/../target")

inside, outside = os.pipe()
got = b""
while len(got) < 1_000_000:
    step = os.splice(fd, outside, 60_000, offset_src=len(got)) if hasattr(os, "splice") else os.write(
        outside, os.pread(fd, 60_000, len(got))
    )
    got += os.read(inside, step)
same("splice", got, 0, len(got))

fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
fcntl.lockf(fd, fcntl.LOCK_UN)
if os.lseek(fd, 0, os.SEEK_DATA) != 0:
    sys.exit("SEEK_DATA: not at the beginning")
try:
    os.open(mount, os.O_RDWR)
    sys.exit("opened for writing")
except OSError as e:
    if e.errno != errno.EROFS:
        sys.exit(f"opening for writing: {e}")
