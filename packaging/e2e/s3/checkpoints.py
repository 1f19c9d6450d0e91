"""A checkpoint mount onto a bucket of a real server.

usage: checkpoints.py save MOUNT SEED   saves checkpoints until it gets SIGTERM
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

MIB = 1 << 20
OWN = ".holdfast-checkpoint/"

# More than Holdfast has the store copy in one piece.
LARGE = 270 * MIB

KEPT = 5


def picture(root):
    """Everything that a program can see of a tree, except times."""
    from common import sha

    seen = {}
    for path, directories, files in os.walk(root):
        for name in directories + files:
            full = os.path.join(path, name)
            stat = os.lstat(full)
            content = ""
            if os.path.islink(full):
                content = os.readlink(full)
            elif os.path.isfile(full):
                with open(full, "rb") as file:
                    content = sha(file.read())
            links = 0 if os.path.isdir(full) else stat.st_nlink
            seen[os.path.relpath(full, root)] = (stat.st_mode, stat.st_uid, stat.st_gid, links, content)
    return seen


def is_key(path):
    return all(character >= " " for character in path)


def contents(root):
    """Returns the digest of each file that has a key of its own."""
    from common import read, sha

    return {os.path.relpath(f"{path}/{name}", root): sha(read(f"{path}/{name}"))
            for path, _, names in os.walk(root) for name in names
            if not os.path.islink(f"{path}/{name}") and is_key(name)}


def objects(client, prefix):
    from common import sha

    return {key[len(prefix):]: sha(client.get(key) or b"") for key in client.keys(prefix)
            if not key.startswith(prefix + OWN)}


def same_bucket(mount, client, prefix, what):
    """The bucket has the mount's files, and nothing else of the programs."""
    from common import check, eventually

    begin = time.monotonic()
    mount.wait()
    waited = time.monotonic() - begin
    files = contents(mount.path)
    eventually(f"{what}: the names of the bucket are those of the mount", lambda: {
        key[len(prefix):] for key in client.keys(prefix)
        if not key.startswith(prefix + OWN)} == files.keys())
    different = []

    def is_same():
        there = objects(client, prefix)
        different[:] = sorted(n for n in files.keys() | there.keys() if files.get(n) != there.get(n))
        return not different

    eventually(f"{what}: the bucket has the mount's bytes", is_same)
    check(not different, f"{what}: the bucket differs in {different[:5]}")
    print(f"ok: {what} (the bucket had it after {waited:.1f} s)", flush=True)


def run(*words):
    subprocess.run(words, check=True, capture_output=True)


def savers(mount, client, scratch):
    """Programs that save, unmodified."""
    import numpy

    path = mount.path

    def same(what):
        same_bucket(mount, client, "run/", what)

    numpy.savez(f"{path}/arrays.npz", a=numpy.arange(3_000_000), b=numpy.ones((300, 300)))
    same("numpy.savez")
    try:
        import torch

        for value in (1, 2):
            torch.save(torch.full((1_000_000,), float(value)), f"{path}/model.pt")
        same("torch.save, twice under one name")
    except ImportError:
        print("skipped: torch is not installed")
    source = f"{scratch}/source"
    os.mkdir(source)
    for i in range(60):
        with open(f"{source}/file {i:03d}+%", "wb") as file:
            file.write(random.Random(i).randbytes(i * 1000))
        os.chmod(f"{source}/file {i:03d}+%", 0o600 + i % 64)
        os.chown(f"{source}/file {i:03d}+%", 1000 + i, 2000 + i)
    os.symlink("file 001+%", f"{source}/link")
    os.link(f"{source}/file 002+%", f"{source}/hard unié\U0001f600")
    with open(f"{source}/ctrl\x01", "wb") as file:
        file.write(b"a name that is no key")
    run("rsync", "-aHX", f"{source}/", f"{path}/copy/")
    same("rsync -aHX")
    run("tar", "-cf", f"{scratch}/source.tar", "-C", scratch, "source")
    run("tar", "-xf", f"{scratch}/source.tar", "-C", path)
    same("tar -x")
    os.rename(f"{path}/source", f"{path}/renamed %41 a+b?")
    shutil.rmtree(f"{path}/copy")
    same("rename of a directory that the bucket has, rm -r")
    with open(f"{path}/appended", "ab") as file:
        for i in range(3):
            file.write(b"line\n" * (i + 1))
            file.flush()
            mount.wait()
    same("a file that is appended to")
    os.mkdir(f"{path}/tmp")
    for i, name in enumerate(("large%41", "largeA")):
        with open(f"{path}/tmp/{name}", "wb") as file:
            for at in range(0, LARGE, MIB):
                file.write(random.Random(i * LARGE + at).randbytes(MIB))
    same(f"two files of {LARGE // MIB} MiB")
    os.rename(f"{path}/tmp", f"{path}/large files")
    same("rename of their directory: the store copies in parts")
    check_fsync(path)
    shutil.rmtree(f"{path}/large files")
    same("rm -r of it")


def check_fsync(path):
    from common import check

    with open(f"{path}/synced", "wb") as file:
        file.write(b"synced")
        file.flush()
        os.fsync(file.fileno())
    durable = os.getxattr(f"{path}/synced", "user.holdfast.durable")
    check(durable == b"store", f"after fsync a file is durable in the store, not: {durable}")


def save(path, seed):
    """Saves checkpoints as trainings do, each under a name of its own, with a marker behind it."""
    from common import sha

    end = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: end.set())
    choose = random.Random(seed)
    number = 0
    while not end.is_set():
        number += 1
        writing = f"{path}/tmp-{number}"
        os.mkdir(writing)
        manifest = {}
        for shard in range(3):
            name = f"shard {shard} of 3 100%"
            content = choose.randbytes(choose.choice((10, 5000, 300_000, 3 * MIB, 18 * MIB)))
            manifest[name] = sha(content)
            with open(f"{writing}/{name}", "wb") as file:
                file.write(content)
        with open(f"{writing}/manifest", "w", encoding="utf-8") as file:
            json.dump(manifest, file)
        os.rename(writing, f"{path}/step-{number}")
        with open(f"{path}/latest.tmp", "w", encoding="utf-8") as file:
            file.write(f"step-{number}")
        os.rename(f"{path}/latest.tmp", f"{path}/latest")
        if number > KEPT:
            shutil.rmtree(f"{path}/step-{number - KEPT}")
        end.wait(choose.choice((0, 0.3, 2.5)))  # a row ends when nothing was written for a second
    print(number)


def is_whole(client, step):
    from common import sha

    manifest = client.get(f"kills/{step}/manifest")
    return manifest is not None and all(
        sha(client.get(f"kills/{step}/{name}") or b"") == digest
        for name, digest in json.loads(manifest).items())


def look(client):
    """The checkpoint that the marker names is whole; returns its number."""
    from common import check

    while True:
        marker = client.get("kills/latest")
        if marker is None:
            return 0
        step = marker.decode()
        if is_whole(client, step):
            return int(step[len("step-"):])
        # the program may have removed it by now
        check(client.get("kills/latest") != marker, f"{step} is whole, since the marker names it")


def kills(holdfast, ceph, client, seed, rounds):
    from common import Failed, check, eventually

    choose = random.Random(seed)
    mount = holdfast.checkpoint("s3://checkpoints/kills", "kills", "kills.front")
    counts = dict.fromkeys(("daemon", "gateway", "disk"), 0)
    looks = []
    with mount:
        saver = subprocess.Popen((sys.executable, __file__, "save", mount.path, str(seed)),
                                 stdout=subprocess.PIPE, text=True)
        try:
            for i in range(rounds):
                time.sleep(choose.uniform(0.5, 3))
                victim = ("daemon", "gateway", "disk")[i % 3]
                counts[victim] += 1
                if victim == "daemon":
                    killed = mount.daemon()
                    os.kill(killed, signal.SIGKILL)
                    looks.append(look(client))
                    eventually("the next daemon", lambda: mount.daemon() not in (None, killed))
                elif victim == "gateway":
                    ceph.kill_gateway()
                    time.sleep(choose.uniform(0.5, 5))
                    ceph.start_gateway()
                else:
                    ceph.kill_disk()
                    time.sleep(choose.uniform(0.5, 3))
                    ceph.start_disk()
                looks.append(look(client))
                check(saver.poll() is None, "the program goes on")
                check(not ceph.gateway_has_died(), "the gateway lives")
                if victim == "disk":  # a row begins again with each kill: one has to get through
                    eventually("the marker goes on", lambda: look(client) > looks[-1])
        finally:
            saver.terminate()
            said, _ = saver.communicate()
        check(saver.returncode == 0, "the program noticed nothing")
        check(looks == sorted(looks), f"the marker never goes back: {looks}")

        def is_durable():
            return holdfast.try_to("checkpoint", "wait", "--timeout=60s", mount.path).returncode == 0

        eventually("the bucket has everything at last", is_durable)
        same_bucket(mount, client, "kills/", "kills")
        before = picture(mount.path)
        check(os.path.exists(f"{mount.path}/step-{int(said)}"), "the last checkpoint is there")
    keys = client.keys("kills/" + OWN)
    left = [key for key in keys if key[len("kills/" + OWN):] not in ("index", "last", "plan")]
    check(not left, f"nothing of the store's own is left but index, last mount and plan: {left}")
    steps = {key.split("/")[1] for key in client.keys("kills/step-")}
    check(all(is_whole(client, step) for step in steps), "every checkpoint of the bucket is whole")
    with holdfast.checkpoint("s3://checkpoints/kills", "kills", "another.front") as again:
        after = picture(again.path)
        different = [n for n in sorted(before.keys() | after.keys()) if before.get(n) != after.get(n)]
        check(not different, f"a new front shows the same tree, except for {different[:5]}")
        left = [each["Key"] for each in client.uploads()]
        check(not left, f"no uploads are left: {left}")
    if looks[-1] == 0:
        raise Failed("the bucket had no checkpoint until the end")
    print(f"ok: {counts} killed while {int(said)} checkpoints were saved: each of {len(looks)} looks found"
          f" the checkpoint whole that the marker named, from {looks[0]} to {looks[-1]}; at last the"
          " bucket has the mount's tree", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    save(sys.argv[2], int(sys.argv[3]))
