"""Savers and kills on a checkpoint mount: what the store has must be whole, whenever one looks.

usage: checkpoint.py HOLDFAST DIRECTORY KILLS [SEED]
"""

import filecmp
import hashlib
import importlib.util
import json
import os
import pickle
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import program

HOLDFAST, DIRECTORY, KILLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
STORE, MOUNT, FRONT = (os.path.join(DIRECTORY, name) for name in ("store", "mount", "front"))
OWNER = ".holdfast-checkpoint"
LAST = OWNER + ".last"

# The supervisor gives up when no daemon was ready for 8 s.
QUICK = 2


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options)


def mount(*options):
    return run(HOLDFAST, "checkpoint", "--front", FRONT, "--front-capacity", "1G",
               "--name", "e2e-checkpoint", *options, STORE, MOUNT)


def wait():
    run(HOLDFAST, "checkpoint", "wait", "--timeout", "120s", MOUNT)


def daemon():
    with open("/run/holdfast/e2e-checkpoint.pid", encoding="utf-8") as file:
        return int(file.readline().split()[0])


def tree(root):
    """Everything that a program can see of a tree, except times."""
    found = {}
    for path, directories, files in os.walk(root):
        for name in directories + files:
            full = os.path.join(path, name)
            if name in (OWNER, LAST):
                continue
            stat = os.lstat(full)
            content = ""
            if os.path.islink(full):
                content = os.readlink(full)
            elif os.path.isfile(full):
                with open(full, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            links = 0 if os.path.isdir(full) else stat.st_nlink
            found[os.path.relpath(full, root)] = (
                stat.st_mode, stat.st_uid, stat.st_gid, links, content)
    return found


def check(condition, what):
    if not condition:
        print(f"FAILED: {what} (seed {SEED})")
        sys.exit(1)


def same_trees(what):
    begin = time.monotonic()
    wait()
    waited = time.monotonic() - begin
    store, front = tree(STORE), tree(MOUNT)
    different = [n for n in sorted(store.keys() | front.keys()) if store.get(n) != front.get(n)]
    check(not different, f"{what}: the store differs in {different[:5]}")
    print(f"ok: {what} (the store had it after {waited:.1f} s)")


def savers():
    """Programs that save, unmodified; the store then has the same tree."""
    os.chdir(MOUNT)
    import numpy

    numpy.savez("arrays.npz", a=numpy.arange(100000), b=numpy.ones((300, 300)))
    check(numpy.load("arrays.npz")["a"][99999] == 99999, "numpy reads its file")
    same_trees("numpy.savez")
    for save in (save_torch, save_torch_distributed, save_h5py, save_safetensors):
        save()
        same_trees(save.__doc__)
    base = sqlite3.connect("base.sqlite")
    base.execute("create table t (n integer primary key, x text)")
    for n in range(20):
        base.execute("insert into t values (?, ?)", (n, "x" * 1000))
        base.commit()
    base.close()
    same_trees("sqlite3")
    there = sqlite3.connect(f"file:{STORE}/base.sqlite?mode=ro", uri=True)
    check(there.execute("select count(*) from t").fetchone() == (20,), "all rows are in the store")
    there.close()
    os.mkdir("source")
    for n in range(50):
        with open(f"source/file-{n}", "wb") as file:
            file.write(os.urandom(1000 * n))
        os.chmod(f"source/file-{n}", 0o600 + n % 64)
        os.chown(f"source/file-{n}", 1000 + n, 2000 + n)
    os.symlink("file-1", "source/link")
    os.link("source/file-2", "source/hard")
    run("rsync", "-aHX", "source/", "copy/")
    same_trees("rsync -aHX")
    run("tar", "-cf", "source.tar", "source")
    os.mkdir("unpacked")
    run("tar", "-xf", "source.tar", "-C", "unpacked")
    same_trees("tar -x")
    run("git", "init", "-q", "repository")
    run("git", "-C", "repository", "-c", "user.name=n", "-c", "user.email=n@example.org",
        "commit", "-q", "--allow-empty", "-m", "first")
    shutil.copy("arrays.npz", "repository/")
    run("git", "-C", "repository", "add", ".")
    run("git", "-C", "repository", "-c", "user.name=n", "-c", "user.email=n@example.org",
        "commit", "-q", "-m", "second")
    run("git", "-C", "repository", "fsck", "--strict")
    same_trees("git commit")
    run("git", "-c", "safe.directory=*", "-C", os.path.join(STORE, "repository"), "fsck", "--strict")
    with open("appended", "ab") as one, open("appended", "ab") as two:
        for n in range(100):
            os.write(one.fileno(), b"1" * 10)
            os.write(two.fileno(), b"2" * 10)
    check(os.path.getsize("appended") == 2000, "O_APPEND of two")
    same_trees("O_APPEND")
    os.mkdir("tmp-checkpoint")
    for n in range(5):
        with open(f"tmp-checkpoint/shard-{n}", "wb") as file:
            file.write(os.urandom(500000))
    os.rename("tmp-checkpoint", "checkpoint-1")
    shutil.rmtree("copy")
    same_trees("rename of a directory, rm -r")
    os.chdir("/")


def archived_stubs():
    """tar --sparse of files that only the store has, as all are with a new front."""
    shutil.rmtree(FRONT)
    mount()
    archive, unpacked = (os.path.join(DIRECTORY, name) for name in ("stubs.tar", "unpacked"))
    run("tar", "--sparse", "-cf", archive, "-C", MOUNT, ".")
    os.mkdir(unpacked)
    run("tar", "--numeric-owner", "-xpf", archive, "-C", unpacked)
    check(tree(unpacked) == tree(STORE), archived_stubs.__doc__)
    print(f"ok: {archived_stubs.__doc__}")


def save_torch():
    """torch.save"""
    import torch

    model = torch.nn.Linear(300, 300)
    torch.save(model.state_dict(), "model.pt")
    torch.save(model.state_dict(), "model.pt")
    loaded = torch.load(os.path.join(MOUNT, "model.pt"))
    check(torch.equal(loaded["weight"], model.weight), "torch reads its file")


def save_torch_distributed():
    """the calls of torch's distributed checkpoint (FileSystemWriter), which Debian's cannot be asked for"""
    import torch

    os.mkdir("distributed")
    for shard in range(4):
        with open(f"distributed/__0_{shard}.distcp", "wb") as file:
            torch.save(torch.full((100000,), float(shard)), file)
            os.fsync(file.fileno())
    with open("distributed/.metadata.tmp", "wb") as file:
        pickle.dump({"shards": 4}, file)
        os.fsync(file.fileno())
    os.rename("distributed/.metadata.tmp", "distributed/.metadata")
    with open("distributed/.metadata", "rb") as file:
        check(pickle.load(file) == {"shards": 4}, "its metadata is whole")
    check(float(torch.load("distributed/__0_3.distcp")[-1]) == 3, "its last shard is whole")


def save_safetensors():
    """the calls of safetensors (its file format, written by hand)"""
    body = os.urandom(400000)
    header = json.dumps({"w": {"dtype": "F32", "shape": [100000], "data_offsets": [0, len(body)]}})
    header = header.encode() + b" " * (-len(header) % 8)
    with open("model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)))
        file.write(header)
        file.write(body)
    with open("model.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        check(json.loads(file.read(length))["w"]["shape"] == [100000], "its header is whole")
        check(file.read() == body, "its tensors are whole")


def save_h5py():
    """h5py"""
    import h5py

    with h5py.File("data.h5", "w") as file:
        file["x"] = list(range(100000))
        file["x"][17] = 4711
    with h5py.File("data.h5", "a") as file:
        file["y"] = [1.5] * 1000


def killed_savers():
    """The daemon is killed while programs save; they wait for the next one, and notice nothing."""
    source = os.path.join(DIRECTORY, "source")
    os.mkdir(source)
    for n in range(300):
        with open(f"{source}/file-{n}", "wb") as file:
            file.write(os.urandom(random.Random(SEED + n).randrange(200000)))
    archive = os.path.join(DIRECTORY, "source.tar")
    run("tar", "-cf", archive, "-C", DIRECTORY, "source")
    os.mkdir(f"{MOUNT}/unpacked")
    python = ("/usr/bin/python3", "-c")
    numpy = f"import numpy; numpy.savez('{MOUNT}/killed.npz', a=numpy.arange(10000000))"
    commands = [
        ("rsync", "copy", ("rsync", "-a", f"{source}/", f"{MOUNT}/copy/")),
        ("tar -x", "unpacked/source", ("tar", "-xf", archive, "-C", f"{MOUNT}/unpacked")),
        ("numpy.savez", "killed.npz", (*python, numpy)),
    ]
    if importlib.util.find_spec("torch"):
        torch = f"import torch; torch.save(torch.arange(10000000), '{MOUNT}/killed.pt')"
        commands.append(("torch.save", "killed.pt", (*python, torch)))
    generator = random.Random(SEED)
    for what, begun, command in commands:
        for _ in range(3):
            kill_while(command, begun, generator)
        same_trees(f"{what}: the daemon was killed in each of 3 runs")
    for copy in (f"{STORE}/copy", f"{STORE}/unpacked/source"):
        _, different, missing = filecmp.cmpfiles(source, copy, os.listdir(source), shallow=False)
        check(not different and not missing, f"{copy} has what was saved")


def kill_while(command, begun, generator):
    """Runs a command and kills the daemon once a name is there; the command must not fail."""
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not os.path.lexists(f"{MOUNT}/{begun}"):
            time.sleep(0.001)
        time.sleep(generator.uniform(0, 0.1))
        killed = daemon()
        os.kill(killed, signal.SIGKILL)
        while daemon() == killed:
            time.sleep(0.001)
        _, said = process.communicate()
    check(process.returncode == 0, f"{command} does not fail: {said}")


def supervisor():
    with open("/run/holdfast/e2e-checkpoint.state/supervisor", encoding="utf-8") as file:
        return int(file.read())


def state_of(process, thread=None):
    part = "" if thread is None else f"/task/{thread}"
    try:
        with open(f"/proc/{process}{part}/stat", encoding="utf-8") as file:
            return file.read().rpartition(") ")[2][0]
    except OSError:
        return "Z"


def await_state(process, states):
    """Waits until all threads of a process are in one of the states."""
    def threads():
        try:
            return os.listdir(f"/proc/{process}/task")
        except OSError:
            return []
    while any(state_of(process, thread) not in states for thread in threads()):
        time.sleep(0.0005)


def store_now():
    """The store's tree; and every checkpoint that has its name is whole, and the latest is there."""
    picture = program.Tree(STORE).picture(without=(OWNER, LAST))
    steps = [name for name in picture if name.startswith("step-")]
    for name in steps:
        with open(f"{STORE}/{name}", "rb") as file:
            whole = hashlib.sha256(file.read()).hexdigest()
        check(picture[name][-1] == whole, f"{name} is whole")
    if "latest" in picture:
        check(picture["latest"][-2] in steps, "the latest checkpoint is there")
    return picture, len(steps)


class Kills:
    """A random program, and random kills of the daemon, the program and the supervisor."""

    def __init__(self):
        self.random = random.Random(SEED)
        shadow = os.path.join(DIRECTORY, "shadow")
        os.mkdir(shadow)
        self.model = program.Model(shadow)
        self.count = dict.fromkeys(("daemon", "program", "supervisor"), 0)
        self.checked = 0
        self.steps = 0
        self.behind = 0
        self.writer = None

    def begin_program(self):
        journal = os.path.join(DIRECTORY, f"journal-{sum(self.count.values())}")
        with open(journal, "wb"):
            pass
        self.model.program_begins(journal)
        self.writer = subprocess.Popen(
            (sys.executable, program.__file__, MOUNT, journal, str(self.random.randrange(1 << 30))))

    def run(self):
        self.begin_program()
        for _ in range(KILLS):
            time.sleep(self.random.uniform(0.05, 1.0))
            victim = self.random.choices(("daemon", "program", "supervisor"), (6, 2, 2))[0]
            self.count[victim] += 1
            look = getattr(self, f"kill_{victim}")()
            if look is not None:
                self.checked += 1
                self.behind += self.model.check(*look)
            check(self.writer.poll() is None, f"the program goes on after the kill of a {victim}")
            if sum(self.count.values()) % 20 == 0:
                print(f"{self.count} killed, {self.checked} looks, {self.steps} checkpoints whole,"
                      f" {self.model.operations} operations (seed {SEED})", flush=True)
        self.writer.kill()
        self.writer.wait()
        self.model.program_ended(program.Tree(MOUNT))
        same_trees(f"{self.count} killed: the store was looked at {self.checked} times, and was"
                   f" that of a moment of {len(self.model.states)}, {self.behind} before then in"
                   f" sum; {self.steps} checkpoints there, all whole;"
                   f" {self.model.operations} operations")
        check(program.Tree(STORE).picture(without=(OWNER, LAST)) == self.model.now,
              "the store has everything at last")

    def look(self):
        """Returns the store's tree, and the first moment that it may be of: that of the last fsync.

        An fsync that the next daemon answers is a later one.
        """
        self.model.follow()
        taken = self.model.taken
        picture, steps = store_now()
        self.steps += steps
        return picture, taken

    def kill_daemon(self):
        """The next one goes on; the program gets the answer of its operation from that one."""
        killed = daemon()
        os.kill(killed, signal.SIGKILL)
        await_state(killed, "ZX")
        look = self.look()
        in_time = daemon() == killed  # else the next one may have changed the store meanwhile
        begin = time.monotonic()
        killed = self.next_daemon(killed)
        if self.random.random() < 0.2 and time.monotonic() - begin < QUICK:
            # the next one, too, which is about to go on; a slow machine has no time for a third
            os.kill(killed, signal.SIGKILL)
            self.next_daemon(killed)
        self.follow_on()
        return look if in_time else None

    @staticmethod
    def next_daemon(killed):
        while daemon() == killed:
            time.sleep(0.001)
        return daemon()

    def follow_on(self):
        """Follows the program until the operation is answered that it was about to do."""
        self.model.follow()
        begun = self.model.operations
        while self.model.operations == begun:
            check(self.writer.poll() is None, "the program waits for the next daemon")
            time.sleep(0.001)
            self.model.follow()

    def kill_program(self):
        self.writer.kill()
        self.writer.wait()
        alive = daemon()
        os.kill(alive, signal.SIGSTOP)
        await_state(alive, "tT")
        look = self.look()
        os.kill(alive, signal.SIGCONT)
        self.model.program_ended(program.Tree(MOUNT))
        self.begin_program()
        return look

    def kill_supervisor(self):
        """The daemon goes on; when that is killed, too, the mount is dead."""
        alive = daemon()
        os.kill(supervisor(), signal.SIGKILL)
        time.sleep(self.random.choice((0, self.random.uniform(0, 0.3))))
        os.kill(alive, signal.SIGKILL)
        await_state(alive, "ZX")
        look = self.look()
        check(self.writer.wait() == 3, "the program gets an error")
        mount("--persist-rate", self.random.choice(("5M", "50M", "500M")))
        self.model.program_ended(program.Tree(MOUNT))
        self.begin_program()
        return look


def kills():
    try:
        Kills().run()
    except program.Different as different:
        check(False, str(different))


def main():
    os.makedirs(STORE)
    os.makedirs(MOUNT)
    mount()
    savers()
    run(HOLDFAST, "umount", MOUNT)
    check(not os.path.exists(os.path.join(STORE, OWNER)), "the store is free after umount")
    archived_stubs()
    run(HOLDFAST, "umount", MOUNT)
    shutil.rmtree(STORE)
    shutil.rmtree(FRONT)
    os.makedirs(STORE)
    mount("--persist-rate", "50M")
    killed_savers()
    run(HOLDFAST, "umount", MOUNT)
    for directory in (STORE, FRONT):
        shutil.rmtree(directory)
    os.makedirs(STORE)
    mount("--persist-rate", "50M")
    kills()
    run(HOLDFAST, "umount", MOUNT)
    print(f"done (seed {SEED})")


main()
