"""Savers and kills on a checkpoint mount: what the store has must be whole, whenever one looks.

usage: checkpoint.py HOLDFAST DIRECTORY KILLS [SEED]
"""

import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

HOLDFAST, DIRECTORY, KILLS = sys.argv[1], sys.argv[2], int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
STORE, MOUNT, FRONT = (os.path.join(DIRECTORY, name) for name in ("store", "mount", "front"))
OWNER = ".holdfast-checkpoint"


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
            if name == OWNER:
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
    wait()
    store, front = tree(STORE), tree(MOUNT)
    different = [n for n in sorted(store.keys() | front.keys()) if store.get(n) != front.get(n)]
    check(not different, f"{what}: the store differs in {different[:5]}")
    print(f"ok: {what}")


def savers():
    """Programs that save, unmodified; the store then has the same tree."""
    os.chdir(MOUNT)
    import numpy

    numpy.savez("arrays.npz", a=numpy.arange(100000), b=numpy.ones((300, 300)))
    check(numpy.load("arrays.npz")["a"][99999] == 99999, "numpy reads its file")
    same_trees("numpy.savez")
    for name, save in (("torch", save_torch), ("h5py", save_h5py)):
        try:
            __import__(name)
        except ImportError:
            print(f"skipped: {name} is not installed")
            continue
        save()
        same_trees(name)
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


def save_torch():
    import torch

    model = torch.nn.Linear(300, 300)
    torch.save(model.state_dict(), "model.pt")
    torch.save(model.state_dict(), "model.pt")
    loaded = torch.load(os.path.join(MOUNT, "model.pt"))
    check(torch.equal(loaded["weight"], model.weight), "torch reads its file")


def save_h5py():
    import h5py

    with h5py.File("data.h5", "w") as file:
        file["x"] = list(range(100000))
        file["x"][17] = 4711
    with h5py.File("data.h5", "a") as file:
        file["y"] = [1.5] * 1000


def save_forever(stop, generator):
    """Saves as trainers do: a temporary file, a rename, and a link to the latest."""
    number = 0
    while not stop.is_set():
        try:
            number = save_once(number, generator)
        except OSError:
            time.sleep(0.01)  # the daemon is gone: save again when it is back


def save_once(number, generator):
    number += 1
    name = f"step-{number % 7}-{generator.randrange(1 << 30)}"
    body = generator.randbytes(generator.randrange(1, 400000))
    with open(f"{MOUNT}/tmp", "wb", buffering=generator.choice((512, 8192, 65536))) as file:
        file.write(body)
        if generator.random() < 0.2:
            file.seek(generator.randrange(len(body)))
            file.write(body[file.tell():])
        file.write(hashlib.sha256(body).digest())
    os.rename(f"{MOUNT}/tmp", f"{MOUNT}/{name}")
    if os.path.lexists(f"{MOUNT}/next"):
        os.unlink(f"{MOUNT}/next")
    os.symlink(name, f"{MOUNT}/next")
    os.rename(f"{MOUNT}/next", f"{MOUNT}/latest")
    old = sorted(n for n in os.listdir(MOUNT) if n.startswith("step-") and n != name)
    for each in old[:-3]:
        os.unlink(f"{MOUNT}/{each}")
    return number


def check_store():
    """Every checkpoint that has its name is whole, and the latest is there."""
    names = [n for n in os.listdir(STORE) if n.startswith("step-")]
    if os.path.lexists(f"{STORE}/latest"):
        check(os.readlink(f"{STORE}/latest") in names, "the latest checkpoint is there")
    for name in names:
        with open(f"{STORE}/{name}", "rb") as file:
            content = file.read()
        check(hashlib.sha256(content[:-32]).digest() == content[-32:], f"{name} is whole")
    return len(names)


def kills():
    generator = random.Random(SEED)
    stop = threading.Event()
    saver = threading.Thread(target=save_forever, args=(stop, random.Random(SEED + 1)))
    saver.start()
    seen = 0
    for _ in range(KILLS):
        time.sleep(generator.uniform(0.05, 1.0))
        os.kill(daemon(), signal.SIGKILL)
        seen += check_store()
        mount("--persist-rate", generator.choice(("5M", "50M", "500M")))
    stop.set()
    saver.join()
    same_trees(f"{KILLS} kills; {seen} checkpoints in the store were looked at, all whole")
    check_store()


def main():
    os.makedirs(STORE)
    os.makedirs(MOUNT)
    mount()
    savers()
    run(HOLDFAST, "umount", MOUNT)
    check(not os.path.exists(os.path.join(STORE, OWNER)), "the store is free after umount")
    shutil.rmtree(STORE)
    shutil.rmtree(FRONT)
    os.makedirs(STORE)
    mount()
    kills()
    run(HOLDFAST, "umount", MOUNT)
    print(f"done (seed {SEED})")


main()
