"""usage: bounds.py HOLDFAST WORK SECONDS SEED [KIND...]

In a mount namespace of its own: a mount after the other, each with something that ends. All that is
listed or read through it must be the origin's, or an error.
"""

import collections
import errno
import json
import os
import random
import select
import signal
import subprocess
import sys
import time

DIRECTORIES, FILES = 60, 1000
KINDS = ("run", "state", "descriptors", "heap", "addresses", "origin", "cgroup", "threads")
NAME = "bounds-%d" % os.getpid()
RUN = "/run/holdfast"
UNIFIED = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
_EPISODE = 12
_HUNG = 90


class Bounds:
    """All mounts, one after the other."""

    def __init__(self, holdfast, work, seed):
        self.holdfast, self.work = holdfast, work
        self.chance = random.Random(seed)
        self.origin = os.path.join(work, "origin")
        self.mount = os.path.join(work, "mount")
        self.state = os.path.join(work, "state")
        self.outcomes = collections.Counter()
        self.violations = collections.Counter()
        self.wanted = {}
        self.groups = []

    def make(self):
        """Makes the origin, which never changes, and remembers what is in it."""
        for directory in (self.origin, self.mount, self.state):
            os.mkdir(directory)
        run("mount", "-t", "tmpfs", "-o", "size=1g", "none", self.origin)
        for d in range(DIRECTORIES):
            path = os.path.join(self.origin, "class_%03d" % d)
            os.mkdir(path)
            for f in range(FILES):
                with open(os.path.join(path, "n%08d_%05d.JPEG" % (d, f)), "wb") as out:
                    out.write(b"%d %d\n" % (d, f))
        for directory, _, _ in os.walk(self.origin):
            self.wanted[os.path.relpath(directory, self.origin)] = set(os.listdir(directory))

    def violation(self, what, words):
        """Counts a violation, and shows it."""
        self.violations[what] += 1
        if self.violations[what] <= 5:
            print("VIOLATION: %s: %s" % (what, words), flush=True)

    # --- what ends

    def bound(self, kind):
        """Sets a bound: returns what stands in front of the command that mounts, and the environment."""
        if kind == "run":
            run("mount", "-t", "tmpfs", "-o", "size=%dk" % self.chance.choice((1024, 3072, self.chance.randrange(800, 6000))), "none", RUN)
        elif kind == "state":
            run("mount", "-t", "tmpfs", "-o", "size=%dk" % self.chance.randrange(64, 6000), "none", self.state)
        elif kind == "descriptors" and self.chance.random() < 0.5:
            return ["prlimit", "--nofile=%d" % self.chance.randrange(60, 400)], {}
        elif kind == "heap":
            # about what 60,000 names take; less than the launcher takes by its own variable
            return [], {"HOLDFAST_JAVA_OPTIONS": "-Xms4m -Xmx%dm" % self.chance.randrange(7, 13)}
        elif kind == "cgroup":
            return self.group("memory"), {}
        elif kind == "threads":
            return self.group("pids"), {}
        return [], {}

    def narrow(self, kind):
        """Has what the daemon takes more of end now, or a little later."""
        if kind == "descriptors":
            used = len(os.listdir("/proc/%d/fd" % self.daemon()))
            self.limit("--nofile", used + self.chance.randrange(12))
        elif kind == "addresses":
            with open("/proc/%d/statm" % self.daemon()) as file:
                used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            self.limit("--as", used + (self.chance.randrange(0, 40) << 20))
        elif kind == "cgroup":
            used = int(read(self.groups[-1], self.files("memory")[1]))
            # refused if the used memory cannot be given back
            self.attempt(self.files("memory")[0], used + (self.chance.randrange(-20, 60) << 20))
        elif kind == "threads":
            # ulimit -u would bound this, but does not bind root
            used = int(read(self.groups[-1], "pids.current"))
            self.attempt("pids.max", used + self.chance.randrange(6))

    def limit(self, what, most):
        """Sets a limit of the daemon's."""
        done = subprocess.run(["prlimit", "--pid", str(self.daemon()), "%s=%d" % (what, most)], stderr=subprocess.DEVNULL)
        self.outcomes["limits set" if done.returncode == 0 else "limits refused"] += 1

    def attempt(self, file, most):
        """Sets a limit of the control group's."""
        try:
            write(os.path.join(self.groups[-1], file), str(most))
            self.outcomes["limits set"] += 1
        except OSError:
            self.outcomes["limits refused"] += 1

    @staticmethod
    def files(controller):
        """Returns the names of a control group's files for the limit and for what is used."""
        if controller == "pids":
            return "pids.max", "pids.current"
        return ("memory.max", "memory.current") if UNIFIED else ("memory.limit_in_bytes", "memory.usage_in_bytes")

    def group(self, controller):
        """Makes a control group; returns what runs a command in it."""
        if UNIFIED:
            write("/sys/fs/cgroup/cgroup.subtree_control", "+" + controller)
        self.groups.append(os.path.join("/sys/fs/cgroup", "" if UNIFIED else controller, NAME))
        os.mkdir(self.groups[-1])
        return ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.groups[-1]]

    def free(self):
        """Takes the bounds away."""
        for group in self.groups:
            end = time.monotonic() + _HUNG
            while os.path.exists(group) and time.monotonic() < end:
                self.empty(group)
        self.groups.clear()
        for place in (RUN, self.state):
            while subprocess.run(["mountpoint", "-q", place]).returncode == 0 and place_is_ours(place):
                run("umount", "-l", place)

    def empty(self, group):
        """Ends what is still in a control group, and removes it if that has ended."""
        with open(os.path.join(group, "cgroup.procs")) as file:
            for pid in file.read().split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        try:
            os.rmdir(group)
        except OSError:
            time.sleep(0.05)  # what was killed has not ended yet

    def daemon(self):
        """Returns the daemon's process, or 0."""
        try:
            with open("%s/%s.pid" % (RUN, NAME)) as file:
                return int(file.readline())
        except (OSError, ValueError):
            return 0

    def kill(self):
        """Kills the daemon, if there is one."""
        pid = self.daemon()
        try:
            with open("/proc/%d/cmdline" % pid, "rb") as file:
                if pid and NAME.encode() in file.read():
                    os.kill(pid, signal.SIGKILL)
        except OSError:
            return  # it has ended

    def disturb(self, kind):
        """Does something to the daemon."""
        what = self.chance.choice(("kill", "restart", "refresh", "refresh", "drop", "nothing"))
        if what == "kill":
            self.kill()
        elif what in ("restart", "refresh"):
            self.command(what, what, self.mount)
        elif what == "drop":
            write("/proc/sys/vm/drop_caches", "2")
        if kind == "origin" and self.daemon():
            self.fail_calls()
        try:
            self.narrow(kind)
        except (FileNotFoundError, ProcessLookupError):
            return  # there is no daemon just now

    def fail_calls(self):
        """Has calls of the daemon fail, from the n-th on or once."""
        call, error = self.chance.choice((("getdents64", "EIO"), ("getdents64", "ENOMEM"), ("statx", "EIO"), ("openat2", "EMFILE")))
        when = "%d%s" % (self.chance.randrange(1, 200), self.chance.choice(("", "+", "+7")))
        inject = "inject=%s:error=%s:when=%s" % (call, error, when)
        tracer = subprocess.Popen(
            ["strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=" + call, "-e", inject, "-p", str(self.daemon())],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(self.chance.uniform(0.5, 3))
        # one that detaches waits for threads that wait for the daemon; the kernel detaches from a dead one
        tracer.kill()
        tracer.wait()

    def command(self, what, *arguments):
        """Runs a command of Holdfast's, which may fail but must end."""
        try:
            done = subprocess.run([self.holdfast, *arguments], capture_output=True, timeout=_HUNG, text=True)
            self.outcomes["%s exit %d" % (what, done.returncode)] += 1
            if done.returncode and not done.stderr.strip():
                self.violation("a command fails without a word", what)
        except subprocess.TimeoutExpired:
            self.violation("a command does not end", what)

    # --- what is seen

    def look(self, until, seed, out):
        """Lists, looks up and reads until a moment; tells what was wrong."""
        chance = random.Random(seed)
        counts, wrong = collections.Counter(), []
        # by a descriptor: where a mount is taken away since no daemon can be started, its place is an empty directory
        root = os.open(self.mount, os.O_PATH | os.O_DIRECTORY)
        mounted = is_mounted(self.mount)
        while mounted and time.monotonic() < until:
            directory = chance.choice(list(self.wanted))
            whole = "/proc/self/fd/%d/%s" % (root, directory)
            try:
                if chance.random() < 0.6:
                    names = os.listdir(whole)
                    counts["listed"] += 1
                    if sorted(names) != sorted(self.wanted[directory]):
                        wrong.append("%s has %d names of %d" % (directory, len(names), len(self.wanted[directory])))
                else:
                    name = chance.choice(sorted(self.wanted[directory]))
                    self.read(directory, os.path.join(whole, name), counts, wrong)
            except OSError as e:
                counts[errno.errorcode.get(e.errno, str(e.errno))] += 1
                if e.errno == errno.ENOENT:
                    wrong.append("%s is gone" % e.filename)
        os.write(out, json.dumps((counts, wrong[:5], len(wrong))).encode())

    def read(self, directory, path, counts, wrong):
        """Reads a file."""
        if os.path.isdir(path):
            return
        with open(path, "rb") as file:
            data = file.read()
        counts["read"] += 1
        with open(os.path.join(self.origin, directory, os.path.basename(path)), "rb") as file:
            if data != file.read():
                wrong.append("other bytes in " + path)

    def lookers(self, until):
        """Starts those who look."""
        started = []
        for _ in range(3):
            source, sink = os.pipe()
            seed = self.chance.random()
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    self.look(until, seed, sink)
                    status = 0
                finally:
                    os._exit(status)
            os.close(sink)
            started.append((child, source))
        return started

    def episode(self, kind):
        """A mount with a bound."""
        prefix, environment = self.bound(kind)
        command = prefix + [self.holdfast, "mount", "--name", NAME, "--binding", self.chance.choice(("kernel", "kernel", "jnr-fuse"))]
        command += ["--capacity", "64M", "--transit", "32M", "--metadata-ttl", self.chance.choice(("0", "1s", "1h"))]
        command += ["--state-dir", self.state, "--log-file", self.work + "/log", self.origin, self.mount]
        try:
            mounted = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=_HUNG)
        except subprocess.TimeoutExpired:
            self.violation("a command does not end", "mount, " + kind)
            return
        self.outcomes["%s: mount exit %d" % (kind, mounted.returncode)] += 1
        logged = self.log_length()
        if mounted.returncode == 0:
            until = time.monotonic() + _EPISODE
            lookers = self.lookers(until)
            while time.monotonic() < until:
                time.sleep(self.chance.uniform(0, 2))
                self.disturb(kind)
            short = sum(self.gather(kind, child, source) for child, source in lookers)
            said = self.remedies(logged)
            self.outcomes["%s: lines with a remedy" % kind] += said
            if short and not said:
                self.violation("ENOMEM, and the log names no bound", kind)
            self.command("umount", "umount", self.mount)
        elif not mounted.stderr.strip():
            self.violation("a command fails without a word", "mount, " + kind)
        self.kill()
        subprocess.run(["umount", "-l", self.mount], stderr=subprocess.DEVNULL)

    def log_length(self):
        """Returns how long the log is."""
        log = self.work + "/log"
        return os.path.getsize(log) if os.path.exists(log) else 0

    def remedies(self, since):
        """Returns how many lines of the log since then say what bound was met, and how to raise it."""
        with open(self.work + "/log", "rb") as log:
            log.seek(since)
            return sum(b" fix: " in line for line in log)

    def gather(self, kind, child, source):
        """Takes what one of them saw; returns how often there was no memory."""
        if not select.select([source], [], [], _HUNG)[0]:
            self.violation("a call does not end", kind)
            os.kill(child, signal.SIGKILL)
            os.close(source)
            return 0
        with os.fdopen(source, "rb") as answer:
            counts, wrong, number = json.loads(answer.read())
        os.waitpid(child, 0)
        for what, count in counts.items():
            self.outcomes["%s: %s" % (kind, what)] += count
        for words in wrong:
            self.violation("not what the source has", kind + ": " + words)
        self.violations["not what the source has"] += max(0, number - len(wrong))
        return counts.get("ENOMEM", 0)

    def run(self, seconds, kinds):
        """Makes mounts for a time; returns how many violations there were."""
        self.make()
        end = time.monotonic() + seconds
        episode = 0
        while time.monotonic() < end:
            kind = kinds[episode % len(kinds)]
            try:
                self.episode(kind)
            finally:
                self.free()
            episode += 1
        run("umount", "-l", self.origin)
        print("%d mounts" % episode)
        for what, count in sorted(self.outcomes.items()):
            print("  %-28s %d" % (what, count))
        for what, count in sorted(self.violations.items()):
            if count:
                print("  VIOLATIONS: %s %d" % (what, count))
        return sum(self.violations.values())


def read(folder, name):
    """Returns what a file of the kernel's says."""
    with open(os.path.join(folder, name)) as file:
        return file.read()


def write(path, text):
    """Writes to a file of the kernel's."""
    with open(path, "w") as file:
        file.write(text)


def is_mounted(place):
    """Tells whether something is mounted there, also when it is dead."""
    try:
        return place_is_ours(place)
    except OSError:
        return True


def place_is_ours(place):
    """Tells whether a file system was mounted there by this program."""
    return os.stat(place).st_dev != os.stat(os.path.dirname(place)).st_dev


def run(*command):
    """Runs a command that must succeed."""
    subprocess.run(command, check=True)


def main():
    """Makes mounts."""
    holdfast, work, seconds, seed = sys.argv[1:5]
    kinds = sys.argv[5:] or KINDS
    unknown = set(kinds) - set(KINDS)
    if unknown:
        sys.exit("there is no kind %s: choose of %s" % (", ".join(unknown), ", ".join(KINDS)))
    sys.exit(1 if Bounds(holdfast, work, int(seed)).run(int(seconds), kinds) else 0)


if __name__ == "__main__":
    main()
