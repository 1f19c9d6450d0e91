"""What packaging/e2e/bpf/run has done in its machine.

usage: guest.py HOLDFAST WAY

Mounts a dataset with and without the kernel's programs, reads it with Python, and compares the messages
that reached the daemons, and the opens that these counted. HOLDFAST is the command. WAY is how the kernel
is to come to the program that answers TCGETS: lsm or fmod_ret.
"""

import ctypes
import errno
import fcntl
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

HOLDFAST, WAY = sys.argv[1], sys.argv[2]
FILES = 200
SINGLES = 10_000
TCGETS = 0x5401
TIOCGWINSZ = 0x5413
LINK_GET_NEXT_ID = 31

WORK = Path("/mnt/bpf")
DATA = WORK / "data"
TYPES = Path("/sys/kernel/btf/vmlinux")
PROGRAMS = 2  # that a mount gives the kernel: one answers, one tells opens
MOST_WAITING = 1 << 18
libc = ctypes.CDLL(None, use_errno=True)


def say(text):
    print("guest:", text, flush=True)


def expect(what, found, expected):
    if found != expected:
        raise AssertionError(f"{what}: {found!r} and not {expected!r}")
    say(f"{what}: {found}")


def holdfast(*words, codes=(0,)):
    done = subprocess.run([HOLDFAST, *words], capture_output=True, text=True)
    if done.returncode not in codes:
        raise AssertionError(f"holdfast {' '.join(words)}: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def warm():
    """Reads what Java is made of: page by page, as it is mapped, that takes a minute here."""
    java = Path(os.path.realpath(shutil.which("java"))).parent.parent
    for folder in Path(HOLDFAST).parent.parent / "lib", java / "lib":
        for file in folder.rglob("*"):
            if file.is_file():
                file.read_bytes()
    holdfast("version")


class Mount:
    """A mount of the dataset."""

    def __init__(self, name, *options):
        self.name = name
        self.path = WORK / name
        self.log = WORK / f"{name}.log"
        self.path.mkdir()
        self.words = [
            "mount", "--name", name, "--capacity", "64M", "--transit", "64M", "--state-dir", "none",
            "--log-file", str(self.log), *options, str(DATA), str(self.path),
        ]  # fmt: skip

    def mount(self):
        for _ in range(8):
            # a command that waited for a minute ends, and the machine may be that slow
            try:
                holdfast(*self.words)
                break
            except AssertionError as e:
                say(f"again: {e}")
        self.device = os.stat(self.path).st_dev
        return self

    def stats(self):
        """Asks the daemon's socket: to start Java takes half a minute here."""
        with socket.socket(socket.AF_UNIX) as daemon:
            daemon.settimeout(120)
            daemon.connect(f"/run/holdfast/{self.name}.sock")
            daemon.sendall(b'{"command":"stats"}\n')
            with daemon.makefile() as answer:
                return json.loads(answer.readline())["stats"]

    def requests(self):
        return self.stats()["kernel"]["requests"]

    def opens(self):
        return self.stats()["opens"]["total"]

    def pid(self):
        return int(Path(f"/run/holdfast/{self.name}.pid").read_text().split()[0])

    def file(self):
        return self.path / "0"

    def umount(self):
        holdfast("umount", str(self.path))
        self.path.rmdir()


def read(mount):
    """Reads all files in a Python of its own, as a job would, and returns the messages by opcode."""
    before = mount.requests()
    text = (
        "import pathlib, sys\n"
        "for path in sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_file()):\n"
        "    with open(path, 'rb') as file:\n"
        "        assert len(file.read()) == 20000\n"
    )
    subprocess.run([sys.executable, "-I", "-c", text, str(mount.path)], check=True)
    after = mount.requests()
    return {op: n - before.get(op, 0) for op, n in sorted(after.items()) if n != before.get(op, 0)}


def await_links(what, count):
    """A mount answers before its daemon has loaded the program."""
    end = time.monotonic() + 120
    while links() != count and time.monotonic() < end:
        time.sleep(1)
    expect(what, links(), count)


def await_residents(mount):
    end = time.monotonic() + 120
    while mount.stats()["cache"]["resident_items"] < FILES:
        if time.monotonic() > end:
            raise AssertionError("not all files became resident")
        time.sleep(1)


def ask(path, request):
    """Returns the error of an ioctl on a file."""
    with open(path, "rb", buffering=0) as file:
        try:
            fcntl.ioctl(file, request, bytes(64))
        except OSError as e:
            return errno.errorcode[e.errno]
    return "none"


def links():
    """Returns how many links of programs the kernel has."""
    count = 0
    attributes = ctypes.create_string_buffer(16)
    while libc.syscall(321, LINK_GET_NEXT_ID, attributes, 16) == 0:
        count += 1
        attributes[0:4] = attributes[4:8]
    return count


def logged(mount):
    return [line for line in mount.log.read_text().splitlines() if "ioctl TCGETS" in line or ": opens: " in line]


def lines(text, part):
    return [" ".join(line.split()) for line in text.splitlines() if part in line]


def reading():
    """Messages of two epochs, with and without the program, in turn."""
    expect("links before", links(), 0)
    auto = Mount("auto").mount()
    off = Mount("off", "--kernel-helpers", "off").mount()
    await_links("links of a mount with and one without", PROGRAMS)
    expect("way", auto.stats()["kernel"]["ioctl"], WAY)
    expect("way without", off.stats()["kernel"]["ioctl"], "message")
    await_way("opens", auto, "bpf")
    expect("opens without", off.stats()["kernel"]["opens"], "fanotify")
    for mount in auto, off:
        before = mount.opens()
        read(mount)
        await_residents(mount)
        # the daemon opens each file too, to pin it
        expect(f"opens of a first epoch ({mount.name})", mount.opens() - before, FILES)
    for _ in range(2):
        found = read(auto)
        say(f"messages for {FILES} residents, with: {found}")
        assert "IOCTL" not in found and "READ" not in found, found
        found = read(off)
        say(f"messages for {FILES} residents, without: {found}")
        assert found["IOCTL"] >= FILES and "READ" not in found, found
    for line in logged(auto):
        say("log: " + line.split("] ", 1)[-1])
    expect("lines without", logged(off), [])
    # a probe that takes longer than the doctor waits has no line with this; so it is on a slow machine
    told = holdfast("doctor", "auto", codes=(0, 1, 2))
    for found in lines(told, "TCGETS"):
        say("doctor: " + found)
        assert f"({WAY})" in found
    for found in lines(told, "opens"):
        say("doctor: " + found)
        assert "program in the kernel" in found
    return auto, off


def await_way(what, mount, way):
    end = time.monotonic() + 240
    while mount.stats()["kernel"][what] != way and time.monotonic() < end:
        time.sleep(1)
    expect(f"way of {what}", mount.stats()["kernel"][what], way)


# Opens each file of a directory some times, and says so: processes begin and end together.
OPENER = """
import os, sys, threading
root, times, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
names = [os.path.join(root, name) for name in os.listdir(root)]
names = [name for name in names if os.path.isfile(name)]
def run():
    for _ in range(times):
        for name in names:
            os.close(os.open(name, os.O_RDONLY))
print(flush=True)
sys.stdin.readline()
all = [threading.Thread(target=run) for _ in range(threads)]
[each.start() for each in all]
[each.join() for each in all]
print(len(names) * times * threads, flush=True)
sys.stdin.readline()
"""


def open_all(root, times, processes=1, threads=1, first=lambda: None):
    """Opens all files in processes of their own; returns how often each has. Before, calls first."""
    words = [sys.executable, "-I", "-c", OPENER, str(root), str(times), str(threads)]
    running = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    for each in running:
        each.stdout.readline()
    first()
    for each in running:
        each.stdin.write("\n")
        each.stdin.flush()
    counts = {each.pid: int(each.stdout.readline()) for each in running}
    for each in running:
        each.communicate("\n")
    return counts


def counting(auto, off):
    """Each open is counted once, by its process, and nothing that is none."""
    for processes, threads, times in (1, 1, 1), (4, 1, 5), (2, 3, 4):
        for mount in auto, off:
            before = mount.opens()
            counts = open_all(mount.path, times, processes, threads)
            stats = mount.stats()
            found, done = stats["opens"]["total"] - before, sum(counts.values())
            say(f"{processes} processes, {threads} threads, {times} times ({mount.name}): {done} opens, {found} counted")
            # fanotify has one event for two opens of a file by one thread that nobody has read yet
            assert found == done if mount is auto or times == 1 else done // times <= found <= done
            if mount is auto:
                by = {each["pid"]: each["opens"] for each in stats["processes"]}
                expect("by process", [by[pid] for pid in counts], list(counts.values()))
    before = auto.opens()
    one = os.open(auto.file(), os.O_RDONLY)
    for _ in range(999):
        os.close(os.open(auto.file(), os.O_RDONLY))
    expect("opens of one file by one thread", auto.opens() - before, 1000)
    before = auto.opens()
    os.close(os.open(f"/proc/self/fd/{one}", os.O_RDONLY))
    expect("an open by /proc", auto.opens() - before, 1)
    os.close(one)
    before = auto.opens()
    for flags in os.O_RDONLY | os.O_DIRECTORY, os.O_PATH:
        os.close(os.open(auto.path, flags))
    os.close(os.open(auto.file(), os.O_PATH))
    for name, flags in ("none", os.O_RDONLY), ("0", os.O_RDWR), (".holdfast/stats.json", os.O_RDONLY):
        try:
            os.close(os.open(auto.path / name, flags))
        except OSError:
            pass
    os.stat(auto.file())
    open_all(off.path, 1)
    open_all(DATA, 1)
    expect("what is no open of a file of the mount", auto.opens() - before, 0)
    bound, over = WORK / "bound", WORK / "over"
    bound.mkdir()
    over.mkdir()
    subprocess.run(["mount", "--bind", str(auto.path), str(bound)], check=True)
    before = auto.opens()
    counts = open_all(bound, 1)
    expect("opens by a bind mount", auto.opens() - before, sum(counts.values()))
    subprocess.run(["umount", str(bound)], check=True)
    # the machine's root is an overlay already, and one over that is the last that the kernel takes
    layers = f"lowerdir={auto.path}:{bound}"
    subprocess.run(["mount", "-t", "overlay", "-o", layers, "over", str(over)], check=True)
    before = auto.opens()
    counts = open_all(over, 1)
    say(f"opens by an overlay: {auto.opens() - before} of {sum(counts.values())}")
    assert auto.opens() - before == sum(counts.values())
    subprocess.run(["umount", str(over)], check=True)
    bound.rmdir()
    over.rmdir()


def going_over():
    """A mount begins with fanotify, and goes over to the program while files are opened: each counts once."""
    content = TYPES.read_bytes()
    slow = WORK / "types"
    os.mkfifo(slow)
    # the daemon goes over when it has read this, and reads until it is given all
    subprocess.run(["mount", "--bind", str(slow), str(TYPES)], check=True)
    mount = Mount("first", "--policy", "none").mount()
    await_way("opens", mount, "fanotify")
    given = threading.Thread(target=lambda: slow.write_bytes(content))
    names = (str(mount.path / "singles" / str(i)) for i in range(SINGLES))
    by = {}
    while by.get("bpf", 0) < 1000:
        for _ in range(20):
            os.close(os.open(next(names), os.O_RDONLY))
        way = mount.stats()["kernel"]["opens"]
        by[way] = by.get(way, 0) + 20
        if by.get("fanotify") == 500 and given.ident is None:
            given.start()
    given.join()
    say(f"opens by way: {by}")
    assert by["fanotify"] >= 500
    stats = mount.stats()
    expect("opens counted", stats["opens"]["total"], sum(by.values()))
    expect("overflows", stats["opens"]["overflows"], 0)
    mount.umount()
    subprocess.run(["umount", str(TYPES)], check=True)
    slow.unlink()


def too_many(auto):
    """A daemon that does not count: what the kernel keeps is bounded, and counting goes on."""
    pid = auto.pid()
    before = auto.opens()
    done = sum(open_all(auto.path, 300, 2, 3, lambda: os.kill(pid, signal.SIGSTOP)).values())
    assert done > MOST_WAITING
    os.kill(pid, signal.SIGCONT)
    end = time.monotonic() + 240
    while auto.stats()["opens"]["overflows"] == 0 and time.monotonic() < end:
        time.sleep(1)
    stats = auto.stats()
    expect(f"opens of {done} while the daemon is stopped", stats["opens"]["total"] - before, MOST_WAITING - 1)
    expect("overflows", stats["opens"]["overflows"], 1)
    before = auto.opens()
    open_all(auto.path, 1)
    expect("opens afterwards", auto.opens() - before, FILES)


def nothing_else(auto, off):
    """The program answers TCGETS on files of its mount, as the daemon does, and nothing else."""
    expect("TCGETS with", ask(auto.file(), TCGETS), "ENOTTY")
    expect("TCGETS without", ask(off.file(), TCGETS), "ENOTTY")
    before = auto.requests().get("IOCTL", 0)
    expect("TIOCGWINSZ", ask(auto.file(), TIOCGWINSZ), "ENOTTY")
    expect("its messages", auto.requests()["IOCTL"] - before, 1)
    bound = WORK / "bound"
    bound.mkdir()
    subprocess.run(["mount", "--bind", str(auto.path), str(bound)], check=True)
    before = auto.requests().get("IOCTL", 0)
    expect("TCGETS by a bind mount", ask(bound / "0", TCGETS), "ENOTTY")
    expect("its messages", auto.requests().get("IOCTL", 0) - before, 0)
    subprocess.run(["umount", str(bound)], check=True)
    bound.rmdir()
    ends = pty.openpty()
    expect("terminals", [os.isatty(end) for end in ends], [True, True])
    for end in ends:
        os.close(end)
    expect("TCGETS on tmpfs", ask(DATA / "0", TCGETS), "ENOTTY")


def next_daemon(auto):
    """A daemon that is killed leaves no program, and the next one has its own."""
    before = auto.pid()
    os.kill(before, signal.SIGKILL)
    end = time.monotonic() + 240
    while time.monotonic() < end:
        try:
            if auto.pid() != before and auto.stats()["kernel"]["ioctl"] == WAY:
                break
        except (AssertionError, OSError, ValueError, IndexError, KeyError):
            pass
        time.sleep(1)
    expect("way of the next daemon", auto.stats()["kernel"]["ioctl"], WAY)
    await_way("opens", auto, "bpf")
    expect("links", links(), PROGRAMS)
    await_residents(auto)
    before = auto.opens()
    found = read(auto)
    expect("opens with the next daemon", auto.opens() - before, FILES)
    say(f"messages with the next daemon: {found}")
    assert "IOCTL" not in found, found


def given_again(auto):
    """The number of a filesystem that went behind the daemon's back is another's."""
    mount = Mount("gone", "--policy", "none", "--window", "0").mount()
    await_links("links of two mounts", 2 * PROGRAMS)
    pid, device = mount.pid(), mount.device
    os.kill(pid, signal.SIGSTOP)
    subprocess.run(["umount", "--lazy", str(mount.path)], check=True)
    terminals = WORK / "pts"
    terminals.mkdir()
    taken = []
    for _ in range(20):
        subprocess.run(["mount", "-t", "devpts", "-o", "ptmxmode=666", "pts", str(terminals)], check=True)
        taken.append(terminals)
        if os.stat(terminals).st_dev == device:
            break
        terminals = WORK / f"pts{len(taken)}"
        terminals.mkdir()
    expect("number of the terminals' filesystem", os.stat(terminals).st_dev, device)
    expect("links while the daemon is stopped", links(), 2 * PROGRAMS)
    master = os.open(terminals / "ptmx", os.O_RDWR | os.O_NOCTTY)
    expect("terminal with the mount's old number", os.isatty(master), True)
    os.close(master)
    for each in taken:
        subprocess.run(["umount", str(each)], check=True)
        each.rmdir()
    os.kill(pid, signal.SIGCONT)
    await_links("links when the daemon has noticed", PROGRAMS)


def without_rights():
    """A user who may not load programs is told so."""
    done = subprocess.run(
        ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--bounding-set", "-all",
         HOLDFAST, "doctor"],
        capture_output=True, text=True, env={**os.environ, "HOME": "/mnt"},
    )  # fmt: skip
    found = lines(done.stdout, "TCGETS") + lines(done.stdout, "opens are told by fanotify")
    say(f"doctor of another user: {found}")
    assert all("needs CAP_SYS_ADMIN" in each for each in found)


def main():
    say(f"Linux {os.uname().release}, Python {sys.version.split()[0]}, modules " + Path("/sys/kernel/security/lsm").read_text())
    assert sys.version_info < (3, 14)
    DATA.mkdir(parents=True)
    for i in range(FILES):
        (DATA / str(i)).write_bytes(os.urandom(20000))
    (DATA / "singles").mkdir()
    for i in range(SINGLES):
        (DATA / "singles" / str(i)).write_bytes(b"x")
    warm()
    auto, off = reading()
    nothing_else(auto, off)
    counting(auto, off)
    off.umount()
    going_over()
    too_many(auto)
    next_daemon(auto)
    given_again(auto)
    without_rights()
    auto.umount()
    expect("links in the end", links(), 0)
    say("all holds")


try:
    main()
except BaseException:
    say("failed")
    traceback.print_exc()
    for log in WORK.glob("*.log"):
        print(log.name, log.read_text()[-3000:])
    sys.exit(1)
