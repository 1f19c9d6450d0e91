"""What packaging/e2e/bpf/run has done in its machine.

usage: guest.py HOLDFAST WAY

Mounts a dataset with and without the kernel's program, reads it with Python, and compares the messages
that reached the daemons. HOLDFAST is the command. WAY is how the kernel is to come to the program: lsm
or fmod_ret.
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
import time
import traceback
from pathlib import Path

HOLDFAST, WAY = sys.argv[1], sys.argv[2]
FILES = 200
TCGETS = 0x5401
TIOCGWINSZ = 0x5413
LINK_GET_NEXT_ID = 31

WORK = Path("/mnt/bpf")
DATA = WORK / "data"
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
        words = [
            "mount", "--name", name, "--capacity", "64M", "--transit", "64M", "--state-dir", "none",
            "--log-file", str(self.log), *options, str(DATA), str(self.path),
        ]  # fmt: skip
        for _ in range(8):
            # a command that waited for a minute ends, and the machine may be that slow
            try:
                holdfast(*words)
                break
            except AssertionError as e:
                say(f"again: {e}")
        self.device = os.stat(self.path).st_dev

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
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
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
    return [line for line in mount.log.read_text().splitlines() if "ioctl TCGETS" in line]


def lines(text, part):
    return [" ".join(line.split()) for line in text.splitlines() if part in line]


def reading():
    """Messages of two epochs, with and without the program, in turn."""
    expect("links before", links(), 0)
    auto = Mount("auto")
    off = Mount("off", "--kernel-helpers", "off")
    await_links("links of a mount with and one without", 1)
    expect("way", auto.stats()["kernel"]["ioctl"], WAY)
    expect("way without", off.stats()["kernel"]["ioctl"], "message")
    for mount in auto, off:
        read(mount)
        await_residents(mount)
    for _ in range(2):
        found = read(auto)
        say(f"messages for {FILES} residents, with: {found}")
        assert "IOCTL" not in found and "READ" not in found, found
        found = read(off)
        say(f"messages for {FILES} residents, without: {found}")
        assert found["IOCTL"] >= FILES and "READ" not in found, found
    say("log: " + logged(auto)[-1].split("] ", 1)[-1])
    expect("lines without", logged(off), [])
    # a probe that takes longer than the doctor waits has no line with this; so it is on a slow machine
    for found in lines(holdfast("doctor", "auto", codes=(0, 1, 2)), "TCGETS"):
        say("doctor: " + found)
        assert f"({WAY})" in found
    return auto, off


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
    expect("links", links(), 1)
    await_residents(auto)
    found = read(auto)
    say(f"messages with the next daemon: {found}")
    assert "IOCTL" not in found, found


def given_again(auto):
    """The number of a filesystem that went behind the daemon's back is another's."""
    mount = Mount("gone", "--policy", "none", "--window", "0")
    await_links("links of two mounts", 2)
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
    expect("links while the daemon is stopped", links(), 2)
    master = os.open(terminals / "ptmx", os.O_RDWR | os.O_NOCTTY)
    expect("terminal with the mount's old number", os.isatty(master), True)
    os.close(master)
    for each in taken:
        subprocess.run(["umount", str(each)], check=True)
        each.rmdir()
    os.kill(pid, signal.SIGCONT)
    await_links("links when the daemon has noticed", 1)


def without_rights():
    """A user who may not load programs is told so."""
    done = subprocess.run(
        ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--bounding-set", "-all",
         HOLDFAST, "doctor"],
        capture_output=True, text=True, env={**os.environ, "HOME": "/mnt"},
    )  # fmt: skip
    found = lines(done.stdout, "TCGETS")
    say(f"doctor of another user: {found}")
    assert all("needs CAP_SYS_ADMIN" in each for each in found)


def main():
    say(f"Linux {os.uname().release}, Python {sys.version.split()[0]}, modules " + Path("/sys/kernel/security/lsm").read_text())
    assert sys.version_info < (3, 14)
    DATA.mkdir(parents=True)
    for i in range(FILES):
        (DATA / str(i)).write_bytes(os.urandom(20000))
    warm()
    auto, off = reading()
    nothing_else(auto, off)
    off.umount()
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
