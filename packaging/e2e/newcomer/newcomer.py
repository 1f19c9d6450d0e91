"""What packaging/e2e/newcomer/run does in the fresh tree, as its root, in the checkout's directory."""

import contextlib
import hashlib
import os
import pathlib
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time

CHECKOUT = pathlib.Path.cwd()
PACKAGING = CHECKOUT / "packaging"
README = (CHECKOUT / "README.md").read_text()
CONFIGURATION = (PACKAGING / "docs/CONFIGURATION.md").read_text()
OPERATIONS = (PACKAGING / "docs/OPERATIONS.md").read_text()
TROUBLESHOOTING = (PACKAGING / "docs/TROUBLESHOOTING.md").read_text()

DATA = pathlib.Path("/srv/data")
MOUNTPOINT = pathlib.Path("/mnt/data")
MOUNT_AT = "mount at "
# Made by the script that made the tree: elsewhere this would take away mounts of others.
TREE = pathlib.Path("/root/tree-of-newcomer")
SETTLED = 20
LONG = 1200

# Of the package manager and of Java.
OF_OTHERS = re.compile(r"/var/log/(apt/.*|[^/]*\.log|faillog|lastlog|[bw]tmp)|/tmp/hsperfdata_root")
# The logs of mounts that were.
OF_MOUNTS = re.compile(r"/var/log/holdfast(/[^/]*\.log)?$")

SIZE = r"\d[\d,.]* (?:[KMGTP]i)?B"
COUNT = r"\d[\d,.]*(?: [kMG](?= ))?"


class Wrong(Exception):
    """What was expected and what was seen."""

    def __init__(self, expected, seen):
        super().__init__("expected %s; seen: %s" % (expected, str(seen).strip()[-600:] or "nothing"))


def expect(condition, expected, seen):
    if not condition:
        raise Wrong(expected, seen)


def documented(pattern, document, what):
    """What a document shows; a step fails where it shows it no more."""
    found = re.search(pattern, document, re.M)
    expect(found, "%s in the documents" % what, "none that matches " + pattern)
    return found


def form(line):
    """The form of a line that a document shows: its numbers and sizes may be others."""
    parts = re.split(r"(%s|%s)" % (SIZE, COUNT), line)
    for i, part in enumerate(parts):
        size = part.endswith("B")
        parts[i] = (SIZE if size else COUNT) if i % 2 else re.escape(part)
    return "".join(parts)


class Result:
    def __init__(self, exit_code, out, err):
        self.exit, self.out, self.err = exit_code, out, err

    def __str__(self):
        return "exit code %s, %s%s" % (self.exit, self.out, self.err)


def as_from_a_shell():
    """What runs in the background ignores Ctrl-C, and so would all that it starts."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def run(*words, seconds=120):
    try:
        done = subprocess.run(
            [str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=seconds, preexec_fn=as_from_a_shell)
    except subprocess.TimeoutExpired as late:
        raise Wrong("an end of %s within %d s" % (words, seconds), late.stdout) from late
    return Result(done.returncode, done.stdout, done.stderr)


def succeed(*words, **options):
    result = run(*words, **options)
    expect(result.exit == 0, "exit code 0 of %s" % shlex.join(map(str, words)), result)
    return result


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *words):
        self.shown = ""
        self.exit = None
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            as_from_a_shell()
            os.execvp(str(words[0]), [str(word) for word in words])

    def _read(self, seconds):
        """Takes what is there; False at the end."""
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            some = os.read(self.master, 1 << 16)
        except OSError:
            some = b""
        self.shown += some.decode(errors="replace").replace("\r\n", "\n")
        return bool(some)

    def until(self, text, seconds=LONG):
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            goes_on = self._read(0.2)
            expect(goes_on and time.monotonic() < deadline, "'%s' within %d s" % (text, seconds), self.shown)

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, seconds=LONG):
        """Waits for the program; its exit code, negative after a signal."""
        deadline = time.monotonic() + seconds
        while self._read(0.2):
            expect(time.monotonic() < deadline, "an end within %d s" % seconds, self.shown)
        return self.wait()

    def wait(self):
        if self.exit is None:
            self.exit = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.exit

    def close(self):
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
        if self.exit is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            self.wait()


def fuse_mounts():
    """The mountpoints of FUSE, with their escaped blanks."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        of_mount, of_source = line.split(" - ")
        if of_source.startswith("fuse"):
            yield of_mount.split()[4]


def present(ignored):
    """Mounts, processes and files that a step could leave."""
    found = {MOUNT_AT + mountpoint for mountpoint in fuse_mounts()}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if command:
                found.add("process %s: %s" % (process.name, command[:160]))
    for folder in ("/tmp", "/run/holdfast", "/var/log"):
        for place, folders, files in os.walk(folder):
            for name in folders + files:
                path = os.path.join(place, name)
                if not any(pattern.match(path) for pattern in ignored):
                    found.add(path)
    return found


class Trial:
    def __init__(self):
        if not TREE.exists():
            sys.exit("newcomer.py: not in a tree of packaging/e2e/newcomer/run")
        self.steps = 0
        self.failed = []

    @contextlib.contextmanager
    def step(self, name, mounts=False):
        """Prints how a step went. mounts: it mounts for itself, which leaves a log."""
        ignored = [OF_OTHERS] + ([OF_MOUNTS] if mounts else [])
        before = present(ignored)
        began = time.monotonic()
        wrong = []
        try:
            yield
        except Wrong as what:
            wrong.append(str(what))
        except (OSError, ValueError, IndexError) as what:
            wrong.append("%s: %s" % (type(what).__name__, what))
        deadline = time.monotonic() + SETTLED
        while present(ignored) - before and time.monotonic() < deadline:
            time.sleep(0.1)
        left = sorted(present(ignored) - before)
        if left:
            wrong.append("expected nothing left; seen: " + ", ".join(left))
            self.tidy(left)
        self.steps += 1
        seconds = time.monotonic() - began
        if wrong:
            self.failed.append(name)
            print("FAILED  %s (%.0f s): %s" % (name, seconds, "; ".join(wrong)), flush=True)
        else:
            print("ok      %s (%.0f s)" % (name, seconds), flush=True)

    @staticmethod
    def tidy(left):
        """Takes a step's mounts away, so that one fault is not taken for another in the next step."""
        for what in left:
            if what.startswith(MOUNT_AT):
                path = re.sub(r"\\(\d{3})", lambda octal: chr(int(octal[1], 8)), what[len(MOUNT_AT):])
                subprocess.run(["umount", "-l", path], capture_output=True, check=False)


def content(folder):
    """A number that is another when a name or a byte is."""
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        sums.update(os.fsencode(path.relative_to(folder)) + b"\0")
        if path.is_file():
            sums.update(path.read_bytes())
    return sums.hexdigest()


def dataset(folder, files=12, size=20000):
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(files):
        (folder / ("%02d.bin" % i)).write_bytes(os.urandom(size))
    return folder


def mount_line():
    """The form of the line that the README shows below a mount."""
    return form(documented(r"^# holdfast mount /data/imagenet .*\n(.*)$", README, "a mount and its line")[1])


# packaging/try

MOMENTS = ("Building (", "== A sample dataset", "$ holdfast mount", "== Epoch 1", "$ holdfast umount")


def interrupted(moment):
    terminal = Terminal(PACKAGING / "try")
    try:
        terminal.until(moment)
        terminal.type("\x03")
        code = terminal.end(60)
        expect(code == 130, "exit code 130", "%s, %s" % (code, terminal.shown))
        last = terminal.shown.rstrip("\n").splitlines()[-1]
        expected = "Interrupted: nothing is mounted, and all that this made is removed."
        expect(last.endswith(expected), expected, terminal.shown)
    finally:
        terminal.close()


def tried(*arguments):
    """A try to its end; what it has to show."""
    result = succeed(PACKAGING / "try", *arguments, seconds=LONG)
    expect(not result.err, "no errors", result.err)
    lines = [line for line in result.out.splitlines() if line.startswith("dataset ")]
    expect(any(re.fullmatch(mount_line(), line) for line in lines), "the README's form " + mount_line(), lines)
    ratios = re.findall(r"^hit ratio (\S+), byte hit ratio \S+(?: \(planned: (.*)\))?$", result.out, re.M)
    expect(len(ratios) == 2 and ratios[0] == ("0.00", ""), "two epochs, no hit in the first", result.out)
    hits, planned = map(float, ratios[1])
    expect(abs(hits - planned) < 0.011 and 0.4 < hits < 0.6, "as many hits as planned, about half", ratios)
    expect("Unmounted: the original directory is back" in result.out, "the end of the mount", result.out)
    return result.out


def manual_packages():
    return set(succeed("apt-mark", "showmanual").out.split())


def newcomer_tries(trial):
    documented(r"`try` installs a JDK 17 and Maven where they are missing, and builds", README, "what try installs")
    before = manual_packages()
    with trial.step("try, interrupted at '%s'" % MOMENTS[0]):
        interrupted(MOMENTS[0])
    with trial.step("try, the first one: builds, and shows what the README shows"):
        expect("Building" in tried(), "a build", "none")
    with trial.step("try installs a JDK and Maven, and nothing else"):
        expected = {"openjdk-17-jdk-headless", "maven"}
        expect(manual_packages() - before == expected, expected, manual_packages() - before)
    with trial.step("try again: the same, without a build"):
        expect("Building" not in tried(), "no build", "one")
    for moment in MOMENTS[1:]:
        with trial.step("try, interrupted at '%s'" % moment):
            interrupted(moment)
    for name in ("it's odd $x -y", "käse 数据", 'comma,colon: "quote"', "back\\slash *?", "-dash", "two\nlines"):
        with trial.step("try of a dataset named %r" % name):
            folder = dataset(pathlib.Path("/srv/odd") / name)
            was = content(folder)
            tried(folder)
            expect(content(folder) == was, "an unchanged dataset", "another")
    with trial.step("try of what is not there, and with an option it has not"):
        for argument in ("/no/such", "--nonsense"):
            result = run(PACKAGING / "try", argument)
            expect(result.exit == 1 and len(result.err.splitlines()) == 1, "exit code 1 and one line", result)


# packaging/check

BROKEN = """package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NewcomerTest {
  @Test
  void sum_ofTwo_isFive() {
    assertThat(Integer.sum(2, 2)).isEqualTo(5);
  }
}
"""


def newcomer_checks(trial):
    with trial.step("check, where a test fails, says so at its end"):
        minutes = documented(r"`check` installs\n?.*takes (some \d+ minutes)", README.replace("\n", " "), "how long")
        test = CHECKOUT / "cache-policy/src/test/java/io/holdfast/policy/NewcomerTest.java"
        # All else would take the time that the README says.
        options = CHECKOUT / ".mvn/maven.config"
        expect(not options.exists(), "no options of Maven's", options)
        try:
            test.write_text(BROKEN)
            options.write_text("-pl\ncache-policy\n-Dtest=NewcomerTest,MinioPolicyTest\n")
            result = run(PACKAGING / "check", seconds=LONG)
        finally:
            test.unlink()
            options.unlink()
        expect(result.exit == 1, "exit code 1", result)
        expect("All tests: " + minutes[1] in result.out, "the README's '%s'" % minutes[1], result.out)
        name = "io.holdfast.policy.NewcomerTest.sum_ofTwo_isFive"
        expect(result.out.endswith("Failed:\n  %s\n" % name), "the failed test's name at the end", result.out)
        counted = r"^(\d+) tests ran in \d+ s: \1 without a mount, 0 on real mounts; 1 failed, 0 skipped\.$"
        count = re.search(counted, result.out, re.M)
        expect(count and int(count[1]) > 1, "the tests, one of them failed", result.out)
        expect(name + "\n    org.opentest4j" in result.out and "expected: 5" in result.out, "what it failed with", result.out)
        expect("FAILED: io.holdfast.policy.NewcomerTest (" in result.out, "the failed class at once", result.out)
        expect(len(result.out.splitlines()) < 60, "less than 60 lines", len(result.out.splitlines()))
        log = CHECKOUT / "target/check.log"
        expect("All of Maven's output: %s\n" % log in result.out and log.exists(), "the log's name", result.out)


# The package

def newcomer_installs(trial):
    with trial.step("the package, by the README's words"):
        install = documented(r"\(`apt (install \./packaging/target/deb/\S+)`\)", README, "the installation")[1]
        # A build of an older version leaves such a jar.
        older = PACKAGING / "target/holdfast/lib/holdfast-0.0.1.jar"
        older.parent.mkdir(parents=True, exist_ok=True)
        older.touch()
        built = succeed(PACKAGING / "deb/build", seconds=LONG)
        expect("Building" in built.out and not older.exists(), "a build that leaves jars of its version only", built)
        succeed("sh", "-c", "apt-get -q -y " + install, seconds=LONG)
        expect(succeed("holdfast", "version").out.startswith("holdfast "), "a version", run("holdfast", "version"))


def unmounted(mountpoint):
    expect(str(mountpoint) not in fuse_mounts(), "nothing mounted at %s" % mountpoint, list(fuse_mounts()))


def read_and_unmount(mountpoint, source_content, command=("umount",)):
    try:
        expect(str(mountpoint) in fuse_mounts(), "a mount at %s" % mountpoint, list(fuse_mounts()))
        expect(content(mountpoint) == source_content, "the source's files", "others")
    finally:
        result = run(*command, mountpoint)
    expect(result.exit == 0 and not result.err, "an end of the mount", result)
    unmounted(mountpoint)


def admin_mounts(trial):
    fstab = pathlib.Path("/etc/fstab")
    before = fstab.read_text()
    source = dataset(pathlib.Path("/nfs/imagenet"))
    mountpoint = pathlib.Path("/data/imagenet")
    mountpoint.mkdir(parents=True)
    was = content(source)
    of_file = documented(r"```yaml\n(source: /nfs/imagenet\nmountpoint: /data/imagenet\n)capacity: \S+\n```", README, "a file")
    file = pathlib.Path("/etc/holdfast/imagenet.yaml")
    try:
        with trial.step("fstab: OPERATIONS's line with a path", mounts=True):
            line = documented(r"^/nfs/imagenet +/data/imagenet +holdfast +capacity=.*$", OPERATIONS, "the line")[0]
            fstab.write_text(re.sub("capacity=[^,]*", "capacity=64M", line) + "\n")
            succeed("mount", mountpoint)
            succeed("mount", "-a")
            read_and_unmount(mountpoint, was)
        with trial.step("the README's file: config --check, mount --name", mounts=True):
            file.parent.mkdir(exist_ok=True)
            file.write_text(of_file[1] + "capacity: 64M\n")
            checked = succeed("holdfast", "config", "--check", "imagenet")
            expect("/nfs/imagenet" in checked.out and "64M" in checked.out, "what would be mounted", checked)
            result = succeed("holdfast", "mount", "--name", "imagenet")
            expect(re.fullmatch(mount_line(), result.out.splitlines()[0]), "the README's form", result)
            read_and_unmount(mountpoint, was, ("holdfast", "umount"))
        with trial.step("fstab: OPERATIONS's line with a name", mounts=True):
            line = documented(r"^imagenet +/data/imagenet +holdfast +.*$", OPERATIONS, "the line")[0]
            fstab.write_text(line + "\n")
            succeed("mount", mountpoint)
            read_and_unmount(mountpoint, was)
        with trial.step("a wrong line in the file is named, with exit code 2"):
            file.write_text(of_file[1] + "capcity: 64M\n")
            for command in (("config", "--check", "imagenet"), ("mount", "--name", "imagenet")):
                result = run("holdfast", *command)
                expect(result.exit == USAGE and "imagenet.yaml" in result.err and "3" in result.err,
                       "exit code %d, with file and line" % USAGE, result)
                expect(len(result.err.splitlines()) == 1, "one line", result.err)
    finally:
        fstab.write_text(before)
        file.unlink(missing_ok=True)


# The slips

COULD_NOT, USAGE = map(int, documented(r"(\d): could not\. (\d): wrong usage", CONFIGURATION, "exit codes").groups())


def in_troubleshooting(line):
    """Whether a heading quotes it; ... stands for anything."""
    for heading in re.findall(r"^### (.*)$", TROUBLESHOOTING, re.M):
        for quoted in re.findall(r'"([^"]+)"', heading):
            if re.search(".*".join(map(re.escape, quoted.split("..."))), line):
                return True
    return False


def refused(code, beginning, *arguments):
    """One line that says what is wrong and what to do, and the documented exit code."""
    mounted = list(fuse_mounts())
    result = run("holdfast", "mount", *arguments)
    lines = result.err.splitlines()
    expect(result.exit == code, "exit code %d" % code, result)
    expect(len(lines) == 1 and not result.out, "one line of error", result)
    expect(lines[0].startswith("holdfast: " + beginning), beginning, lines[0])
    expect(re.search(r": \S.*: \S", lines[0]), "what is wrong, and what to do", lines[0])
    expect(in_troubleshooting(lines[0]), "a heading of TROUBLESHOOTING that quotes it", lines[0])
    expect(list(fuse_mounts()) == mounted, "nothing mounted", list(fuse_mounts()))


def admin_slips(trial):
    for place in ("/proc", "/sys", "/etc", "/", "/dev", "/usr", "/tmp", "/run", "/var/log", "/proc/1", "/etc/apt"):
        with trial.step("mount on %s is refused" % place):
            refused(USAGE, "mountpoint '%s' " % place, DATA, place)
    for place in ("/proc", "/sys/fs"):
        with trial.step("mount of %s is refused" % place):
            refused(USAGE, "source '%s' is on a file system that holds no data" % place, place, MOUNTPOINT)
    for place in ("/etc", "/usr"):
        with trial.step("mount of %s over itself is refused" % place):
            refused(USAGE, "source '%s' cannot be mounted over itself" % place, place)
    with trial.step("mount on a bind mount of /etc is refused"):
        bound = pathlib.Path("/mnt/bound")
        bound.mkdir()
        succeed("mount", "--bind", "/etc", bound)
        try:
            refused(USAGE, "mountpoint '/mnt/bound' ", DATA, bound)
        finally:
            succeed("umount", bound)
    with trial.step("mount on a link to /etc is refused"):
        link = pathlib.Path("/mnt/link")
        link.symlink_to("/etc")
        refused(USAGE, "mountpoint '/etc' ", DATA, link)
    with trial.step("more capacity than memory is refused, in the units that were given"):
        result = run("holdfast", "mount", DATA, MOUNTPOINT, "--capacity", "4200G")
        expect(result.exit == USAGE and len(result.err.splitlines()) == 1, "one line, exit code 2", result)
        expect("4200G" in result.err and "GiB" in result.err, "4200G and the memory in GiB", result)
    with trial.step("units: 420G is printed as 420 GiB"):
        result = succeed("holdfast", "simulate", "--files", "1000", "--size", "1000000000", "--capacity", "420G",
                         "--policy", "minio", "--epochs", "2")
        expect("minio, capacity 420 GiB (" in result.out, "420 GiB", result)
    with trial.step("units: 64M is printed as 64.0 MiB, of a mount too", mounts=True):
        result = succeed("holdfast", "mount", dataset(pathlib.Path("/srv/large"), 4, 30 << 20), MOUNTPOINT, "--capacity", "64M")
        expect("capacity 64.0 MiB: " in result.out, "64.0 MiB", result)
        succeed("holdfast", "umount", MOUNTPOINT)
    with trial.step("an NFS directory that is not mounted is warned of", mounts=True):
        empty_source()
    with trial.step("memory promised twice is told, and by the doctor", mounts=True):
        promised_twice()


def empty_source():
    fstab = pathlib.Path("/etc/fstab")
    before = fstab.read_text()
    source = pathlib.Path("/nfs/missing")
    source.mkdir(parents=True, exist_ok=True)
    try:
        fstab.write_text("server:/missing %s nfs ro 0 0\n" % source)
        required = run("holdfast", "mount", source, MOUNTPOINT, "--capacity", "64M", "--require-mount")
        expected = "holdfast: source '%s' is not mounted (--require-mount): " % source
        expect(required.exit == COULD_NOT, "exit code %d with --require-mount" % COULD_NOT, required)
        expect(required.err.splitlines()[-1].startswith(expected), expected, required.err)
        expect(in_troubleshooting(expected), "a heading of TROUBLESHOOTING that quotes it", expected)
        unmounted(MOUNTPOINT)
        warned = succeed("holdfast", "mount", source, MOUNTPOINT, "--capacity", "64M")
        try:
            expected = "holdfast: the source '%s' is empty: '%s' is in /etc/fstab and is not mounted\n" % (source, source)
            expect(warned.err == expected, expected, warned.err)
            expect(in_troubleshooting(warned.err), "a heading of TROUBLESHOOTING that quotes it", warned.err)
            doctor = run("holdfast", "doctor", MOUNTPOINT)
            expect(re.search("^ *WARN +origin +the dataset has no files", doctor.out, re.M), "a warning of the doctor's", doctor)
        finally:
            succeed("holdfast", "umount", MOUNTPOINT)
    finally:
        fstab.write_text(before)


def promised_twice():
    mountpoints = [pathlib.Path("/mnt/first"), pathlib.Path("/mnt/second")]
    try:
        for mountpoint in mountpoints:
            mountpoint.mkdir()
            result = succeed("holdfast", "mount", DATA, mountpoint)
        expect(len(result.err.splitlines()) == 1, "one line", result.err)
        expect(re.match("holdfast: 2 mounts may keep .* resident: ", result.err), "what both promise", result.err)
        expect(in_troubleshooting(result.err), "a heading of TROUBLESHOOTING that quotes it", result.err)
        doctor = run("holdfast", "doctor")
        expect(re.search("WARN +mounts +2 mounts may keep", doctor.out), "a warning of the doctor's", doctor)
    finally:
        for mountpoint in mountpoints:
            if str(mountpoint) in fuse_mounts():
                succeed("holdfast", "umount", mountpoint)


# Ctrl-C

TRAINING = """holdfast mount %s %s --capacity 64M || exit
echo "training, $$."
sleep 1000
""" % (DATA, MOUNTPOINT)


def mount_outlives(end):
    terminal = Terminal("sh", "-c", TRAINING)
    try:
        terminal.until("training, ", 60)
        end(terminal)
        code = terminal.wait()
        expect(code < 0 or code > 128, "the script's end by a signal", code)
    finally:
        terminal.close()
    read_and_unmount(MOUNTPOINT, content(DATA), ("holdfast", "umount"))


def kill_group(terminal):
    succeed("sh", "-c", "kill -- -%d" % terminal.pid)


def close_terminal(terminal):
    os.close(terminal.master)
    terminal.master = -1


def scripts_end(trial):
    for name, end in (
            ("Ctrl-C", lambda terminal: terminal.type("\x03")),
            ("kill -- -PGID", kill_group),
            ("the terminal's end", close_terminal)):
        with trial.step("a mount outlives its script: " + name, mounts=True):
            mount_outlives(end)


def main():
    began = time.monotonic()
    trial = Trial()
    newcomer_tries(trial)
    newcomer_checks(trial)
    newcomer_installs(trial)
    dataset(DATA)
    MOUNTPOINT.mkdir(parents=True)
    admin_mounts(trial)
    admin_slips(trial)
    scripts_end(trial)
    print("%d steps in %.0f s, %d failed." % (trial.steps, time.monotonic() - began, len(trial.failed)))
    for name in trial.failed:
        print("  " + name)
    print("Failed." if trial.failed else "All passed.")
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main())
