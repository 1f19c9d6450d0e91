"""A dataset mount over a bucket of a real server."""

import concurrent.futures
import errno
import os
import random
import re
import threading
import time

from common import Client, Holdfast, check, eventually, read, sha, walk

THREADS = 8
MIB = 1 << 20

ODD = (
    "sp ace", "two  spaces", " begins", "ends ", "unié中\U0001f600", "decomposed e\u0301",
    "100%", "%41", "%2F", "%25", "a+b", "a b", "a%20b", "pre", "prefix", "pre/fix", "prefix/x/y",
    "empty folder/", "q?x=1&y", "?versionId=1", "hash#", "c:d", "tab\tx", "quo'te\"", "back\\slash",
    "new\nline", "ctrl\x01", "~t", "*star", "(p)", "a=b", "a;b", "a,b", "a@b", "$a", "!a", "[a]", "{a}",
    "^a", "`a", "|a", "À", "\ufb01", "\U0010ffff", "\ufffe?", "_under", "_multipart_x.y", "<xml>",
    "&amp;", "n" * 255, "n" * 256, "ü" * 127 + "a", "ü" * 128, "deep/" * 40 + "file", ".hidden",
    "...", "a//b", "/rooted", ".", "..", "x/../y", "x/./z", "replacement \ufffd", "zero")


def at_once(action, items):
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(action, items))


def shown(keys, prefix):
    """Returns the files, directories and the number of hidden keys, as SEMANTICS says."""
    files, directories, hidden = {}, set(), 0
    for key in keys:
        parts = key[len(prefix):].split("/")
        is_folder = parts[-1] == ""
        names = parts[:-1] if is_folder else parts
        above = []
        for name in names:
            if name in ("", ".", "..") or len(name.encode()) > 255 or "\ufffd" in name:
                hidden += 1
                names = None
                break
            above.append(name)
        if names is not None and not is_folder:
            above.pop()
            files["/".join(names)] = key
        directories.update("/".join(above[:i + 1]) for i in range(len(above)))
    for path in sorted(files.keys() & directories):
        hidden += 1
        del files[path]
    return files, directories, hidden


class Dataset:
    """Objects with content that follows from the key."""

    def __init__(self, client, seed):
        self.client = client
        self.seed = seed

    def content(self, key, size):
        return random.Random(f"{self.seed} {key}").randbytes(size)

    def fill(self, flat):
        """Puts objects, some more than a listing's page; returns the digest of each."""
        random_sizes = random.Random(self.seed)
        sizes = {f"tree/{i % 7}/item {i:05d}": random_sizes.choice((0, 1, 4096, 5000, 20000))
                 for i in range(flat)}
        sizes.update({f"tree/odd/{name}": 100 + len(name) for name in ODD})
        sizes["tree/odd/zero"] = 0
        sizes["tree/large"] = 9 * MIB + 17
        digests = {}

        def put(key):
            content = self.content(key, sizes[key])
            digests[key] = sha(content)
            if len(content) > 8 * MIB:
                self.client.put_in_parts(key, content, 5 * MIB)
            else:
                self.client.put(key, content)

        at_once(put, sizes)
        return digests


def same(mount, client, digests, what, is_scanned=True):
    """The mount shows what the server lists, and each file has the bytes that were put."""
    keys = client.keys("tree/")
    check(set(keys) == digests.keys(), f"{what}: the server lists what was put")
    files, directories, hidden = shown(keys, "tree/")
    begin = time.monotonic()
    seen_files, seen_directories = walk(mount.path)
    difference = sorted(seen_files ^ files.keys()) + sorted(seen_directories ^ directories)
    check(not difference, f"{what}: the listing differs in {difference[:5]!r}")

    def counted():
        figure = mount.stats()["dataset"]
        return (figure["files"], figure["hidden_keys"]) == (len(files), hidden)

    if is_scanned:  # the figures are those of the last scan
        eventually(f"{what}: stats tells of {len(files)} files and {hidden} hidden keys", counted)

    def wrong(path):
        return sha(read(os.path.join(mount.path, path))) != digests[files[path]]

    names = sorted(files)
    bad = [path for path, is_wrong in zip(names, at_once(wrong, names)) if is_wrong]
    check(not bad, f"{what}: other bytes in {bad[:5]!r}")
    seconds = time.monotonic() - begin
    print(f"ok: {what}: {len(files)} files and {len(directories)} directories are those of "
          f"{len(keys)} keys, {hidden} of them hidden, every byte is equal ({seconds:.1f} s)",
          flush=True)


def gets(ceph, prefix):
    return sum(f'"GET /data/{prefix}' in line for line in ceph.lines())


def epochs(holdfast, ceph, dataset):
    """Each epoch behind the first reads exactly what does not fit, by the gateway's own log."""
    count, size, fitting = 240, 100_000, 96
    pages = -(-size // 4096) * 4096
    keys = [f"epochs/{i:04d}" for i in range(count)]
    contents = {key: dataset.content(key, size) for key in keys}
    at_once(lambda key: dataset.client.put(key, contents[key]), keys)
    order = random.Random(dataset.seed)
    asked = []
    with holdfast.mount("s3://data/epochs", "epochs", f"--capacity={fitting * pages}",
                        "--window=0") as mount:
        for _ in range(3):
            mount.settle()
            before = gets(ceph, "epochs/")
            order.shuffle(keys)
            for key in keys:
                content = read(f"{mount.path}/{key[len('epochs/'):]}")
                check(content == contents[key], f"an epoch reads {key} as it is")
            mount.settle()
            last = -1
            while last != gets(ceph, "epochs/"):  # the log is written behind the answers
                last = gets(ceph, "epochs/")
                time.sleep(1)
            asked.append(last - before)
        resident = mount.stats()["cache"]["resident_items"]
    check(resident == fitting, f"{resident} files are resident, not {fitting}")
    later = count - fitting
    check(asked == [count, later, later], f"the gateway saw {asked} GETs")
    print(f"ok: epochs over {count} files with room for {fitting}: the gateway saw {asked} GETs",
          flush=True)


def words(version, size):
    return version.to_bytes(8, "big") * (size // 8)


class Moving:
    """Objects that are replaced while they are read."""

    SIZES = (8, 4096, 300_000, 1_000_000, 6 * MIB)

    def __init__(self, client, seed):
        self.client = client
        self.random = random.Random(seed)
        self.objects = {f"moving/{size}-{i}": size for size in self.SIZES for i in range(6)}
        self.versions = dict.fromkeys(self.objects, 0)
        self.end = threading.Event()
        self.reads = self.stale = 0
        self.seen = set()
        self.lock = threading.Lock()
        at_once(lambda key: client.put(key, words(0, self.objects[key])), self.objects)

    def replace(self):
        choose = random.Random(self.random.random())
        replaced = 0
        while not self.end.is_set():
            key = choose.choice(list(self.objects))
            self.versions[key] += 1
            self.client.put(key, words(self.versions[key], self.objects[key]))
            replaced += 1
        return replaced

    def read(self, root, seed):
        choose = random.Random(seed)
        while not self.end.is_set():
            key = choose.choice(list(self.objects))
            try:
                content = read(f"{root}/{key[len('moving/'):]}")
            except OSError as failure:
                if failure.errno != errno.ESTALE:
                    raise
                with self.lock:
                    self.stale += 1
                continue
            version = int.from_bytes(content[:8], "big")
            check(content == words(version, self.objects[key]), f"{key} is of one version")
            check(version <= self.versions[key], f"{key} is of a version that was put")
            with self.lock:
                self.reads += 1
                self.seen.add((key, version))


def replaced(holdfast, client, seed):
    moving = Moving(client, seed)
    with holdfast.mount("s3://data/moving", "moving", "--capacity=40M",
                        "--metadata-ttl=1s") as mount:
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            threads = [pool.submit(moving.replace)]
            threads += [pool.submit(moving.read, mount.path, f"{seed} {i}") for i in range(4)]
            try:
                concurrent.futures.wait(threads, 30, concurrent.futures.FIRST_EXCEPTION)
            finally:
                moving.end.set()
            replacements, *_ = [thread.result() for thread in threads]
        holdfast.run("refresh", mount.path)
        for key, size in moving.objects.items():
            content = read(f"{mount.path}/{key[len('moving/'):]}")
            check(content == words(moving.versions[key], size), f"{key} is the last one at last")
    check(moving.reads > 100 and len(moving.seen) > len(moving.objects), "objects were replaced")
    print(f"ok: {replacements} objects replaced during {moving.reads} reads: each read is one version,"
          f" {len(moving.seen)} versions were seen, {moving.stale} reads got ESTALE", flush=True)


def versioned(holdfast, endpoint):
    client = Client(endpoint, "versions").create()
    client.s3.put_bucket_versioning(Bucket="versions",
                                    VersioningConfiguration={"Status": "Enabled"})
    for content in (b"first", b"second"):
        client.put("a", content)
        client.put("gone", content)
    client.delete("gone")
    with holdfast.mount("s3://versions", "versions", "--metadata-ttl=1s") as mount:
        check(os.listdir(mount.path) == ["a"], "a deleted object of a versioned bucket is not shown")
        check(read(f"{mount.path}/a") == b"second", "a versioned object is its last version")
        client.put("a", b"third version")
        holdfast.run("refresh", mount.path)
        check(read(f"{mount.path}/a") == b"third version", "a newer version is read")
        client.delete("a")
        holdfast.run("refresh", mount.path)
        check(os.listdir(mount.path) == [], "a versioned object is deleted")
    print("ok: a bucket with versions shows the last ones", flush=True)


def gateway_dies(holdfast, ceph, client, digests):
    """Readers wait while the gateway is away, and nothing is read wrong."""
    files, _, _ = shown(digests, "tree/")
    names = sorted(files)
    end = threading.Event()
    errors = []

    def reader(seed):
        choose = random.Random(seed)
        count = 0
        while not end.is_set():
            path = choose.choice(names)
            try:
                content = read(os.path.join(mount.path, path))
            except OSError as failure:
                errors.append(f"{path}: {failure}")
                continue
            check(sha(content) == digests[files[path]], f"{path} is read as it is")
            count += 1
        return count

    with holdfast.mount("s3://data/tree", "dying", "--policy=none", "--metadata-ttl=1s") as mount:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            threads = [pool.submit(reader, i) for i in range(4)]
            try:
                for _ in range(3):
                    time.sleep(2)
                    ceph.kill_gateway()
                    time.sleep(3)
                    ceph.start_gateway()
                time.sleep(2)
            finally:
                end.set()
            reads = sum(thread.result() for thread in threads)
        check(not errors, f"{len(errors)} reads failed: {errors[:3]}")
        same(mount, client, digests, "after the gateway's deaths")
    print(f"ok: the gateway was killed three times and away for some 3 s: {reads} reads, all right",
          flush=True)


def slowed_down(holdfast, ceph, dataset):
    """A gateway that refuses all but two requests at once is asked again."""
    ceph.start_slow_gateway()
    slow = Holdfast(holdfast.command, holdfast.directory, ceph.slow_endpoint,
                    options=holdfast.options[1:])
    contents = {f"slow/{i}": dataset.content(f"slow/{i}", 6 * MIB) for i in range(24)}
    at_once(lambda key: dataset.client.put(key, contents[key]), contents)
    with slow.mount("s3://data/slow", "slowed", "--policy=none") as mount:
        def wrong(key):
            return read(f"{mount.path}/{key[len('slow/'):]}") != contents[key]
        check(not any(at_once(wrong, contents)), "all is read as it is")
    ceph.end_slow_gateway()
    refused = sum('" 503 ' in line for line in ceph.lines("b"))
    check(refused > 0, "the gateway said 503 SlowDown")
    print(f"ok: {len(contents)} files by {THREADS} readers through a gateway that said 503 SlowDown"
          f" {refused} times", flush=True)


def clock(holdfast, library, digests):
    """A machine whose clock is two hours off."""
    skewed = {"LD_PRELOAD": library, "FAKETIME": "+2h", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
              "FAKETIME_FORCE_MONOTONIC_FIX": "0", "NO_FAKE_STAT": "1"}
    files, _, _ = shown(digests, "tree/")
    begin = time.time()
    try:
        with holdfast.mount("s3://data/tree", "skewed", environment=skewed) as mount:
            for path in sorted(files)[:50]:
                check(sha(read(f"{mount.path}/{path}")) == digests[files[path]], f"{path} is the same")
    finally:
        remove_files_of_faketime(begin)
    print("ok: a clock that is two hours ahead is made up for", flush=True)


def remove_files_of_faketime(begin):
    """The library leaves files of processes that have ended."""
    for name in os.listdir("/dev/shm"):
        process = re.fullmatch(r"(?:sem\.faketime_sem|faketime_shm)_(\d+)", name)
        path = f"/dev/shm/{name}"
        if (process and os.stat(path).st_mtime >= begin - 1
                and not os.path.exists(f"/proc/{process[1]}")):
            os.remove(path)


def on(holdfast, client, seed, flat):
    """Fills a bucket and compares; returns the digests."""
    digests = Dataset(client, seed).fill(flat)
    with holdfast.mount("s3://data/tree", "tree", "--capacity=16M") as mount:
        same(mount, client, digests, "dataset")
        gone = sorted(key for key in digests if key.startswith("tree/3/"))
        client.delete_many(gone)
        for key in gone:
            del digests[key]
        holdfast.run("refresh", mount.path)
        same(mount, client, digests, f"after a bulk delete of {len(gone)}", is_scanned=False)
    return digests
