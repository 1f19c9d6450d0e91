"""usage: watch.py SECONDS HOLDFAST WORK STORE NAME

Stops the process STORE for SECONDS, measures what the mounts at WORK/mnt (called NAME) and WORK/second
do before, meanwhile and after, and prints it. Exit code 1 where something took too long or has grown.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

SECOND = 1.0
COMES_BACK = 10.0
FILES = range(1, 61)
seconds, holdfast, work, store, name = int(sys.argv[1]), *sys.argv[2:4], int(sys.argv[4]), sys.argv[5]
mnt = work + "/mnt"
wrong = []
signal.signal(signal.SIGINT, signal.SIG_DFL)  # of a command in the background it is ignored, and of its children


def timed(action):
    start = time.monotonic()
    action()
    return time.monotonic() - start


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def figures():
    return json.loads(read(mnt + "/.holdfast/stats.json"))


def readable(path):
    try:
        return len(read(path)) == 50000
    except OSError:
        return False


def resident(path):
    return int(os.getxattr(path, "user.holdfast.resident")) > 0


def daemon():
    with open("/run/holdfast/%s.pid" % name) as file:
        return int(file.readline())


def ask_socket():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(60)
        client.connect("/run/holdfast/%s.sock" % name)
        client.sendall(b'{"command":"stats"}\n')
        answer = b""
        while not answer.endswith(b"\n"):
            answer += client.recv(1 << 20)
        assert json.loads(answer)["ok"]


def footprint():
    pid = daemon()
    status = dict(
        line.split(":", 1) for line in read("/proc/%d/status" % pid).decode().splitlines() if ":" in line
    )
    return {
        "threads": len(os.listdir("/proc/%d/task" % pid)),
        "descriptors": len(os.listdir("/proc/%d/fd" % pid)),
        "anonymous MB": int(status["RssAnon"].split()[0]) // 1024,
    }


def wait_until(what, condition, longest):
    start = time.monotonic()
    while not condition():
        if time.monotonic() - start > longest:
            wrong.append("not within %d s: %s" % (longest, what))
            break
        time.sleep(0.05)
    return time.monotonic() - start


def report(what, took, longest):
    verdict = ""
    if took > longest:
        verdict = "  TOO LONG"
        wrong.append(what)
    print("  %-46s %8.3f s%s" % (what, took, verdict), flush=True)


class Others:
    """Readers of files that are not resident, until told to stop: how many failed, how long each took."""

    def __init__(self, paths):
        self.paths, self.stop, self.lock = paths, False, threading.Lock()
        self.failed, self.well, self.longest, self.at_once = 0, 0, 0.0, 0
        self.threads = [threading.Thread(target=self.read, args=(i,), daemon=True) for i in range(8)]
        for thread in self.threads:
            thread.start()

    def read(self, number):
        while not self.stop:
            path = self.paths[number % len(self.paths)]
            number += 8
            start = time.monotonic()
            try:
                read(path)
                well = True
            except OSError:
                well = False
            took = time.monotonic() - start
            with self.lock:
                self.well += well
                self.failed += not well
                self.at_once += not well and took < 0.5
                self.longest = max(self.longest, took)
            time.sleep(0.2)


def freed(path, program, how):
    """Has a process wait for bytes of a file, and ends it; returns how long that took."""
    command = ["cat", path] if program == "cat" else ["dd", "iflag=direct", "bs=4096", "if=" + path]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    if child.poll() is not None:
        return None  # it failed at once, and does not wait
    child.send_signal(how)
    return timed(child.wait)


def all_files(directories):
    return ["%s/%d/%d" % (mnt, directory, file) for directory in directories for file in FILES]


# Directories 1 to 5 are resident, 6 to 8 are wanted by others, 9 by readers that are interrupted, 10 by nobody.
for path in all_files(range(1, 6)):
    read(path)
run("ls", "-lR", mnt)
run("ls", "-lR", work + "/second")
wait_until("files are resident", lambda: figures()["cache"]["resident_items"] >= 200, 60)
kept = [path for path in all_files(range(1, 6)) if resident(path)]
time.sleep(12)  # pools that are idle end
before = footprint()

probes = {
    "ls -l of a known directory": lambda: run("ls", "-l", mnt + "/3"),
    "read of a resident file": lambda: read(kept[int(time.monotonic() * 1000) % len(kept)]),
    ".holdfast/stats": lambda: read(mnt + "/.holdfast/stats"),
    "stats by the daemon's socket": ask_socket,
    "holdfast stats": lambda: run(holdfast, "stats", name),
}
usual = {}
for what, probe in probes.items():
    usual[what] = max(timed(probe) for _ in range(10))
    report(what + ", before", usual[what], 10)

os.kill(store, signal.SIGSTOP)
hung = time.monotonic()
others = Others(all_files(range(6, 9)))
# One waits for a page that the kernel reads ahead, the other for an answer of the daemon.
freed_after = {(program, how): 0.0 for program in ("cat", "dd") for how in (signal.SIGINT, signal.SIGKILL)}
worst = dict.fromkeys(probes, 0.0)
number, waited, most_threads, unmounted, silent_after = 0, 0, 0, None, None
while time.monotonic() - hung < seconds:
    for what, probe in probes.items():
        worst[what] = max(worst[what], timed(probe))
    for program, how in freed_after:
        number += 1
        took = freed("%s/9/%d" % (mnt, number % 60 + 1), program, how)
        freed_after[program, how] = max(freed_after[program, how], took or 0)
        waited += took is not None
    most_threads = max(most_threads, footprint()["threads"])
    if silent_after is None and figures()["fetches"]["origin"]["silent"]:
        silent_after = time.monotonic() - hung
    if unmounted is None and time.monotonic() - hung > seconds / 2:
        unmounted = timed(lambda: run(holdfast, "umount", work + "/second"))
    time.sleep(0.5)
# A Java takes its time to start where the machine does something else, too.
for what in probes:
    report(what + ", meanwhile", worst[what], max(SECOND, 2 * usual[what]))
SLOW_START = max(SECOND, 2 * usual["holdfast stats"])
report("umount of the second mount, meanwhile", unmounted, SLOW_START)
print("  %d of %d readers that got a signal were waiting" % (waited, number))
if waited == 0:
    wrong.append("no reader was waiting when it got its signal")
for (program, how), took in freed_after.items():
    report("a reader (%s) ends after its %s" % (program, how.name), took, SECOND)
print(
    "  others: %d reads failed, %d of them at once; the longest took %.1f s" % (others.failed, others.at_once, others.longest)
)
print("  silent after: %s; most threads: %d" % (silent_after and "%.1f s" % silent_after, most_threads))

others.well = 0
os.kill(store, signal.SIGCONT)
back = time.monotonic()
wait_until("a file that nobody had asked for can be read", lambda: readable("%s/10/7" % mnt), 60)
report("a new file can be read after", time.monotonic() - back, COMES_BACK)
wait_until("all files can be read", lambda: all(readable(path) for path in all_files(range(6, 11))), 60)
report("all files can be read after", time.monotonic() - back, COMES_BACK)
wait_until("no fetch is stuck", lambda: figures()["fetches"]["origin"]["stuck"] == 0, 60)
report("no fetch is stuck any more after", time.monotonic() - back, COMES_BACK)
others.stop = True
for thread in others.threads:
    thread.join(70)
if any(thread.is_alive() for thread in others.threads):
    wrong.append("a reader is still waiting")

for _ in range(25):  # pools that are idle end, and threads for requests with those that follow
    time.sleep(1)
    read(mnt + "/.holdfast/stats")
after = footprint()
bounds = {"threads": 12, "descriptors": 16, "anonymous MB": 64}
for what, bound in bounds.items():
    verdict = ""
    if after[what] > before[what] + bound:
        verdict = "  GROWN"
        wrong.append(what)
    print("  %-16s %6d before, %6d after%s" % (what, before[what], after[what], verdict))
last = figures()
for gauge in ("fetches.in_flight", "fetches.origin.in_flight", "fetches.origin.queued", "transit.used_bytes", "cache.pin_backlog_bytes"):
    value = last
    for key in gauge.split("."):
        value = value[key]
    if value != 0:
        wrong.append("%s is %d" % (gauge, value))
print("  " + ("holds" if not wrong else "DOES NOT HOLD: " + "; ".join(wrong)))
sys.exit(1 if wrong else 0)
