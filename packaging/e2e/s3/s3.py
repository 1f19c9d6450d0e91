"""Mounts over real servers of S3.

usage: s3.py HOLDFAST DIRECTORY [SEED]
"""

import glob
import os
import random
import signal
import sys

import checkpoints
import dataset
import servers
from common import Client, Failed, Holdfast, check

HOLDFAST, DIRECTORY = sys.argv[1], sys.argv[2]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
FLAT = 2500
KILLS = 18
DOMAIN = "gateway.test"
REFUSED = 1
PATH_STYLE = ("--s3-path-style",)


def left_behind():
    """Everything that a mount which did not come about could leave, except for a front."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line for line in file if DIRECTORY in line]
    state = glob.glob("/run/holdfast/e2e-s3-*")
    processes = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                line = file.read()
        except OSError:
            continue
        if b"holdfast" in line and b"e2e-s3-" in line:
            processes.append(line)
    return mounts + state + processes


def refused(holdfast, mentioned, source, *options, environment=None):
    """Both kinds of mount say one line, and leave nothing behind."""
    before = left_behind()
    for words in (holdfast.mount_words(source, "bad", *options),
                  holdfast.checkpoint_words(source, "bad", "bad.front", *options)):
        done = holdfast.try_to(*words, environment=environment)
        said = done.stderr.strip()
        check(done.returncode == REFUSED, f"{words}: exit code {done.returncode}, not 1: {said}")
        check(said.startswith("holdfast: ") and "\n" not in said and "Exception" not in said
              and mentioned in said, f"{words}: not one line with '{mentioned}': {said}")
        check(left_behind() == before, f"{words}: left behind: {left_behind()}")
    print(f"ok: refused: {said}", flush=True)


def bad_input(ceph):
    def at(endpoint, *options):
        return Holdfast(HOLDFAST, DIRECTORY, endpoint, options=options)

    good = at(ceph.endpoint, *PATH_STYLE)
    nowhere, = servers.free_ports(1)
    refused(good, "does not take these credentials", "s3://data/tree",
            environment={"AWS_SECRET_ACCESS_KEY": "wrong"})
    refused(good, "does not take these credentials", "s3://data/tree",
            environment={"AWS_ACCESS_KEY_ID": "nobody"})
    refused(good, "no credentials found", "s3://data/tree",
            environment={"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})
    refused(good, "no bucket no-such-bucket", "s3://no-such-bucket/tree")
    refused(at(f"http://127.0.0.1:{nowhere}", *PATH_STYLE), "cannot reach", "s3://data/tree")
    refused(at("http://no-such-host.invalid", *PATH_STYLE), "cannot reach", "s3://data/tree")
    # another server than one of S3, which understands no HTTP
    refused(at(f"http://127.0.0.1:{ceph.monitor}", *PATH_STYLE), "cannot reach", "s3://data/tree")
    refused(at(f"https://127.0.0.1:{ceph.port}", *PATH_STYLE), "cannot reach", "s3://data/tree")
    refused(at(f"https://127.0.0.1:{ceph.tls}", *PATH_STYLE), "cannot reach", "s3://data/tree")


def over_tls(ceph, authority, client, digests):
    """By a host's name, with the bucket in it, and a certificate of an authority of our own."""
    hosts = f"{DIRECTORY}/hosts"
    with open(hosts, "w", encoding="utf-8") as file:
        file.write(f"127.0.0.1 {DOMAIN} data.{DOMAIN} checkpoints.{DOMAIN}\n")
    holdfast = Holdfast(HOLDFAST, DIRECTORY, f"https://{DOMAIN}:{ceph.tls}")
    holdfast.environment["HOLDFAST_JAVA_OPTIONS"] = (
        f"-Djdk.net.hosts.file={hosts} -Djavax.net.ssl.trustStore={authority.trust}"
        " -Djavax.net.ssl.trustStorePassword=changeit")
    with holdfast.mount("s3://data/tree", "tls") as mount:
        dataset.same(mount, client, digests, "https, the bucket in the host's name")
    with holdfast.checkpoint("s3://checkpoints/tls", "tls", "tls.front") as mount:
        with open(f"{mount.path}/a+b %41", "wb") as file:
            file.write(random.Random(SEED).randbytes(20 << 20))
        checkpoints.same_bucket(mount, Client(ceph.endpoint, "checkpoints"), "tls/",
                                "https: a file in parts")


def swift():
    server = servers.Swift(f"{DIRECTORY}/swift")
    try:
        server.start()
        client = Client(server.endpoint, "data", server.ACCESS_KEY, server.REGION).create()
        at = Holdfast(HOLDFAST, DIRECTORY, server.endpoint, server.ACCESS_KEY, PATH_STYLE)
        refused(at, "the bucket is in the region eu-west-1: use --s3-region eu-west-1",
                "s3://data/tree")
        here = Holdfast(HOLDFAST, DIRECTORY, server.endpoint, server.ACCESS_KEY,
                        (*PATH_STYLE, "--s3-region=eu-west-1"))
        dataset.on(here, client, SEED, 1100)
        before = left_behind()
        done = here.try_to(*here.checkpoint_words("s3://data/run", "bad", "bad.front"))
        said = done.stderr.strip()
        check(done.returncode == REFUSED and "\n" not in said and "conditional writes" in said,
              f"checkpoints on Swift: {done.returncode}: {said}")
        check(left_behind() == before, f"left behind: {left_behind()}")
        check(client.keys("run/") == [], "Swift's bucket is as it was")
        print(f"ok: refused: {said}", flush=True)
    finally:
        server.close()


def faketime():
    for path in glob.glob("/usr/lib/*/faketime/libfaketime.so.1"):
        return path
    raise Failed("libfaketime is not installed")


def main():
    print(f"seed {SEED}", flush=True)
    authority = servers.Authority(f"{DIRECTORY}/authority", DOMAIN)
    ceph = servers.Ceph(f"{DIRECTORY}/ceph", DOMAIN, authority.certificate)
    try:
        ceph.start()
        print(f"Ceph {ceph.version()} at {ceph.endpoint}", flush=True)
        holdfast = Holdfast(HOLDFAST, DIRECTORY, ceph.endpoint, options=PATH_STYLE)
        data = Client(ceph.endpoint, "data").create()
        store = Client(ceph.endpoint, "checkpoints").create()
        bad_input(ceph)
        digests = dataset.on(holdfast, data, SEED, FLAT)
        dataset.epochs(holdfast, ceph, dataset.Dataset(data, SEED))
        dataset.replaced(holdfast, data, SEED)
        dataset.versioned(holdfast, ceph.endpoint)
        dataset.clock(holdfast, faketime(), digests)
        dataset.slowed_down(holdfast, ceph, dataset.Dataset(data, SEED))
        over_tls(ceph, authority, data, digests)
        dataset.gateway_dies(holdfast, ceph, data, digests)
        with holdfast.checkpoint("s3://checkpoints/run", "savers", "savers.front") as mount:
            checkpoints.savers(mount, store, DIRECTORY)
            before = checkpoints.picture(mount.path)
        with holdfast.checkpoint("s3://checkpoints/run", "savers", "new.front") as mount:
            check(checkpoints.picture(mount.path) == before, "a new front shows the same tree")
        print("ok: a new front shows the same tree", flush=True)
        checkpoints.kills(holdfast, ceph, store, SEED, KILLS)
        check(not ceph.gateway_has_died(), "the gateway lives")
    finally:
        ceph.close()
        remove_logs()
    swift()
    print(f"done (seed {SEED})")


def remove_logs():
    for path in glob.glob("/var/log/holdfast/e2e-s3-*"):
        os.remove(path)


def end(*_):
    sys.exit(143)


signal.signal(signal.SIGTERM, end)
try:
    main()
except Failed as failure:
    print(f"FAILED: {failure} (seed {SEED})")
    sys.exit(1)
finally:
    remove_logs()
