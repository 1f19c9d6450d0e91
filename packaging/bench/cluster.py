"""See packaging/bench/cluster. usage: cluster.py HOLDFAST NODES FILES SIZE PERCENT EPOCHS BATCH"""

import json
import multiprocessing
import os
import pathlib
import secrets
import signal
import subprocess
import sys
import tempfile
import time

SEED = 7
COUNTED = 24
TWO_POINTS = 0.02
PATIENCE = 120


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


class Hosts:
    """Network namespaces that a bridge joins."""

    def __init__(self, count):
        self.name = f"hfc{os.getpid()}"
        self.names = [f"{self.name}-{i}" for i in range(count + 1)]
        for name in self.names:
            run("ip", "netns", "add", name)
        bridge = self.names[0]
        run("ip", "-n", bridge, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", bridge, "link", "set", "br0", "up")
        for i, name in enumerate(self.names[1:], 1):
            run("ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{i}", "netns", bridge)
            run("ip", "-n", bridge, "link", "set", f"port{i}", "master", "br0", "up")
            run("ip", "-n", name, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "lo", "up")
            run("ip", "-n", name, "link", "set", "eth0", "up")

    def close(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False)


class Cluster:
    """Mounts, one on each host."""

    def __init__(self, holdfast, hosts, work, count, capacity):
        self.holdfast = holdfast
        self.mounts = [work / f"node{i}" for i in range(1, count + 1)]
        self.names = [f"{hosts.name}-{i}" for i in range(1, count + 1)]
        secret = work / "secret"
        secret.write_text(secrets.token_hex(32) + "\n")
        secret.chmod(0o600)
        peers = ",".join(f"10.77.0.{i}:7070" for i in range(1, count + 1))
        starting = []
        for i, mount in enumerate(self.mounts, 1):
            mount.mkdir()
            starting.append(
                subprocess.Popen(
                    ["nsenter", f"--net=/run/netns/{hosts.names[i]}", holdfast, "mount", "--capacity", str(capacity)]
                    + ["--window-age", "100ms", "--name", self.names[i - 1], "--state-dir", "none"]
                    + ["--log-file", str(work / f"log{i}"), "--listen", f"10.77.0.{i}:7070", "--peers", peers]
                    + ["--dataset-id", "bench", "--cluster-secret-file", str(secret), str(work / "origin"), str(mount)],
                    stdout=subprocess.DEVNULL,
                )
            )
        for process in starting:
            if process.wait():
                sys.exit("a node does not start: see above")

    def stats(self, i):
        all_of_it = json.loads(run(self.holdfast, "stats", self.names[i], "--json"))
        return all_of_it.get("stats", all_of_it)

    def fetched(self):
        """Bytes that all nodes have fetched: from peers, from the origin."""
        all_of_it = [self.stats(i)["fetches"] for i in range(len(self.names))]
        return [sum(each[source]["bytes"] for each in all_of_it) for source in ("peer", "origin")]

    def planned(self, epoch):
        """Bytes by the plan of an epoch, once all nodes follow it: local, peer, origin."""
        until = time.monotonic() + PATIENCE
        plans = []
        while time.monotonic() < until:
            plans = [self.stats(i)["cluster"]["plan"] for i in range(len(self.names))]
            if all(each["epoch"] == epoch for each in plans):
                return [sum(each[key + "_bytes"] for each in plans) for key in ("local", "peer", "origin")]
            time.sleep(0.2)
        sys.exit(f"epoch {epoch} is not planned: {plans}")

    def job(self, i):
        jobs = self.stats(i)["jobs"]["jobs"]
        return max(jobs, key=lambda job: job["opens"])["job"]

    def announce(self, epochs, names):
        for i, name in enumerate(self.names):
            run(self.holdfast, "order", name, "--job", self.job(i), "--sampler", "torch", "--seed", str(SEED),
                "--epochs", f"0-{epochs}", "--world", str(len(self.names)), "--rank", str(i), "--list", names)  # fmt: skip

    def close(self):
        for name, mount in zip(self.names, self.mounts):
            if os.path.ismount(mount):
                if subprocess.run([self.holdfast, "umount", name], stdout=subprocess.DEVNULL, check=False).returncode:
                    subprocess.run(["umount", "-l", str(mount)], check=False)


def rank(mount, orders, batch, barrier):
    """Reads one list of names after the other, as a rank."""
    for names in iter(orders.get, None):
        for at in range(0, len(names), batch):
            for name in names[at : at + batch]:
                (mount / name).read_bytes()
            barrier.wait()
        barrier.wait()


class Ranks:
    """A process for each node, which reads as its rank."""

    def __init__(self, mounts, batch):
        self.barrier = multiprocessing.Barrier(len(mounts) + 1)
        self.batch = batch
        self.queues = [multiprocessing.Queue() for _ in mounts]
        self.all = [
            multiprocessing.Process(target=rank, args=(mount, queue, batch, self.barrier), daemon=True)
            for mount, queue in zip(mounts, self.queues)
        ]
        for each in self.all:
            each.start()

    def read(self, lists):
        for queue, names in zip(self.queues, lists):
            queue.put(names)
        for _ in range((len(lists[0]) + self.batch - 1) // self.batch + 1):
            self.barrier.wait(PATIENCE)


def simulated(holdfast, count, files, size, percent):
    """Means of the later epochs: local, moved, origin."""
    report = json.loads(
        run(holdfast, "simulate", "--files", str(files), "--size", str(size), "--epochs", "48", "--capacity",
            f"{percent}%", "--order", "known", "--nodes", str(count), "--policy", "cooperative", "--json")  # fmt: skip
    )
    epochs = report["runs"][0]["epochs"][-COUNTED:]
    sums = [sum(each["bytes"][key] for each in epochs) for key in ("memory", "peer", "pushed", "origin")]
    everything = sums[0] + sums[1] + sums[3]
    return sums[0] / everything, (sums[1] + sums[2]) / everything, sums[3] / everything


def play(holdfast, work, hosts, count, files, size, percent, epochs, batch):
    origin = work / "origin"
    names = [f"{i % 10}/{i:06}" for i in range(files)]
    for i in range(10):
        (origin / str(i)).mkdir(parents=True)
    for name in names:
        (origin / name).write_bytes(os.urandom(size))
    (work / "names").write_text("".join(name + "\n" for name in names))
    everything = files * size
    cluster = Cluster(holdfast, hosts, work, count, everything * percent // 100)
    sums = [0.0, 0.0, 0.0]
    try:
        ranks = Ranks(cluster.mounts, batch)
        ranks.read([names[:20]] * count)  # a job is known once it has opened files
        time.sleep(1)
        cluster.announce(epochs, str(work / "names"))
        for epoch in range(epochs):
            order = run(holdfast, "order", "--sampler", "torch", "--seed", str(SEED), "--epoch", str(epoch),
                        "--world", "1", "--list", str(work / "names"), "--print").split()  # fmt: skip
            order += order[: -len(order) % count]
            plan = [each / everything for each in cluster.planned(epoch)]
            before = cluster.fetched()
            ranks.read([order[i::count] for i in range(count)])
            time.sleep(0.5)
            peer, from_origin = (
                (now - then) / everything for now, then in zip(cluster.fetched(), before)
            )
            # a file that is pushed comes from the origin and a peer, in the plan as in fact
            local = 1 - peer - from_origin + (sum(plan) - 1)
            print(f"{count} nodes, epoch {epoch:2}: local {local:.3f} peers {peer:.3f} origin {from_origin:.3f};"
                  f" planned {plan[0]:.3f} {plan[1]:.3f} {plan[2]:.3f}", flush=True)  # fmt: skip
            if epoch >= epochs - COUNTED:
                for i, each in enumerate((local, peer, from_origin)):
                    sums[i] += each / min(COUNTED, epochs)
    finally:
        cluster.close()
    expected = simulated(holdfast, count, files, size, percent)
    print(f"{count} nodes, c = {percent / 100}: local, peers, origin {sums[0]:.3f} {sums[1]:.3f} {sums[2]:.3f};"
          f" simulated {expected[0]:.3f} {expected[1]:.3f} {expected[2]:.3f}")  # fmt: skip
    return all(abs(one - other) <= TWO_POINTS for one, other in zip(sums, expected))


def played(count, holdfast, files, size, percent, epochs, batch):
    work = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-cluster.", dir="/dev/shm"))
    hosts = Hosts(count)
    try:
        return play(holdfast, work, hosts, count, files, size, percent, epochs, batch)
    finally:
        hosts.close()
        subprocess.run(["rm", "-rf", "--one-file-system", "--", str(work)], check=False)


def main():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    holdfast = sys.argv[1]
    counts = [int(word) for word in sys.argv[2].split(",") if word]
    numbers = [int(word) for word in sys.argv[3:]]
    near = [played(count, holdfast, *numbers) for count in counts]
    sys.exit(0 if all(near) else "further than 2 points from the simulation")


if __name__ == "__main__":
    main()
