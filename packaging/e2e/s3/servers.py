"""Servers of S3 for tests: Ceph's gateway and OpenStack Swift, each in a directory of its own.

Each server is a child of this process and gets SIGKILL when this process ends, however it ends. All
listen on 127.0.0.1 only.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid

ACCESS_KEY = "holdfast"
SECRET_KEY = "not-a-secret"
START = 120

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def end_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def answers(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status < 500
    except urllib.error.HTTPError as failure:
        return failure.code < 500
    except OSError:
        return False


class Processes:
    """Processes by name, each with its words, so that it can be started again."""

    def __init__(self, directory, environment=None):
        self.directory = directory
        self.environment = {**os.environ, **(environment or {})}
        self.words = {}
        self.running = {}

    def start(self, name, *words):
        """Starts a process; without words, the same as before."""
        self.words[name] = words or self.words[name]
        with open(f"{self.directory}/{name}.out", "ab") as out:
            # in a session of its own: Ctrl-C ends this process, which ends the servers in order
            self.running[name] = subprocess.Popen(
                self.words[name], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env=self.environment, preexec_fn=end_with_parent, start_new_session=True)

    def kill(self, name):
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def run(self, *words):
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True,
                              timeout=START, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def wait_for(self, name, url):
        end = time.monotonic() + START
        while not answers(url):
            if self.running[name].poll() is not None or time.monotonic() > end:
                with open(f"{self.directory}/{name}.out", encoding="utf-8", errors="replace") as out:
                    raise RuntimeError(f"{name} does not answer: {out.read()[-2000:]}")
            time.sleep(0.1)

    def close(self):
        for name in reversed(list(self.running)):
            self.kill(name)


class Ceph:
    """A cluster of one monitor, one manager and one disk in a file, with a gateway."""

    def __init__(self, directory, domain, certificate):
        os.makedirs(directory)
        self.directory = directory
        self.monitor, self.port, self.tls, self.slow = free_ports(4)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.slow_endpoint = f"http://127.0.0.1:{self.slow}"
        self.domain = domain
        self.processes = Processes(directory, {"CEPH_CONF": f"{directory}/ceph.conf"})
        self.configure(certificate)

    def configure(self, certificate):
        here = self.directory
        for name in ("mon", "mgr", "osd", "run"):
            os.mkdir(f"{here}/{name}")
        self.fsid = str(uuid.uuid4())
        with open(f"{here}/ceph.conf", "w", encoding="utf-8") as file:
            file.write(f"""[global]
fsid = {self.fsid}
mon host = [v2:127.0.0.1:{self.monitor}/0]
mon initial members = a
keyring = {here}/keyring
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon warn on pool no redundancy = false
mon max pg per osd = 1000
mon data avail crit = 1
mon data avail warn = 1
public network = 127.0.0.0/8
osd crush chooseleaf type = 0
run dir = {here}/run
admin socket = {here}/run/$name.$pid.asok
log file = {here}/run/$name.log
mon cluster log file = {here}/run/cluster.log
crash dir = {here}/run
mon data = {here}/mon
mgr data = {here}/mgr
osd data = {here}/osd
osd objectstore = bluestore
bluestore block size = 8589934592
bluestore block create = true
osd memory target = 1073741824
rgw data = {here}/run
rgw dns name = {self.domain}
rgw enable usage log = false
[client.rgw.a]
# Without tcp_nodelay each small answer takes 40 ms longer.
rgw frontends = beast endpoint=127.0.0.1:{self.port} ssl_endpoint=127.0.0.1:{self.tls} ssl_certificate={certificate} tcp_nodelay=1
[client.rgw.b]
rgw frontends = beast endpoint=127.0.0.1:{self.slow} tcp_nodelay=1
rgw scheduler type = throttler
rgw max concurrent requests = 2
""")

    def start(self):
        here, run = self.directory, self.processes.run
        names = ("client.admin", "mgr.a", "osd.0", "client.rgw.a", "client.rgw.b")
        run("ceph-authtool", "--create-keyring", f"{here}/keyring", "--gen-key", "-n", "mon.",
            "--cap", "mon", "allow *")
        for name in names:
            run("ceph-authtool", f"{here}/keyring", "--gen-key", "-n", name, "--cap", "mon",
                "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *")
        run("monmaptool", "--create", "--fsid", self.fsid, "--addv", "a",
            f"[v2:127.0.0.1:{self.monitor}]", f"{here}/monmap")
        run("ceph-mon", "-i", "a", "--mkfs", "--monmap", f"{here}/monmap", "--keyring",
            f"{here}/keyring")
        self.processes.start("mon", "ceph-mon", "-i", "a", "-f")
        disk = str(uuid.uuid4())
        run("ceph", "--connect-timeout", str(START), "osd", "new", disk, "0")
        self.processes.start("mgr", "ceph-mgr", "-i", "a", "-f")
        run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.processes.start("osd", "ceph-osd", "-i", "0", "-f")
        self.processes.start("gateway", "radosgw", "-n", "client.rgw.a", "-f")
        self.processes.wait_for("gateway", self.endpoint)
        run("radosgw-admin", "user", "create", "--uid", "holdfast", "--display-name", "holdfast",
            "--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY)

    def version(self):
        return self.processes.run("radosgw", "--version").split()[2]

    def kill_gateway(self):
        self.processes.kill("gateway")

    def start_gateway(self):
        self.processes.start("gateway")
        self.processes.wait_for("gateway", self.endpoint)

    def gateway_has_died(self):
        process = self.processes.running.get("gateway")
        return process is None or process.poll() is not None

    def kill_disk(self):
        self.processes.kill("osd")

    def start_disk(self):
        self.processes.start("osd")

    def start_slow_gateway(self):
        """Starts a gateway that answers with 503 SlowDown when it gets more than two at once."""
        self.processes.start("slow", "radosgw", "-n", "client.rgw.b", "-f")
        self.processes.wait_for("slow", self.slow_endpoint)

    def end_slow_gateway(self):
        self.processes.kill("slow")

    def lines(self, which="a"):
        """Returns the lines of a gateway's log that tell of requests."""
        with open(f"{self.directory}/run/client.rgw.{which}.log", encoding="utf-8",
                  errors="replace") as file:
            return [line for line in file if " beast: " in line]

    def close(self):
        self.processes.close()


SERVER = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
mount_check = false
devices = {here}/node
swift_dir = {here}
user = root
log_level = WARNING
disable_fallocate = true
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
recon_cache_path = {here}
"""

PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = root
swift_dir = {here}
log_level = WARNING
[pipeline:main]
pipeline = catch_errors listing_formats cache s3api tempauth copy slo symlink versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:copy]
use = egg:swift#copy
[filter:s3api]
use = egg:swift#s3api
location = eu-west-1
[filter:tempauth]
use = egg:swift#tempauth
user_holdfast_holdfast = {secret} .admin
[filter:slo]
use = egg:swift#slo
[filter:symlink]
use = egg:swift#symlink
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
"""


class Swift:
    """Swift with one copy of each object, behind its middleware s3api, in the region eu-west-1."""

    ACCESS_KEY = "holdfast:holdfast"
    REGION = "eu-west-1"

    def __init__(self, directory):
        os.makedirs(f"{directory}/node/disk")
        self.directory = directory
        self.port, *self.ports = free_ports(4)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.processes = Processes(directory)

    def write(self, name, text):
        with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def start(self):
        here, run = self.directory, self.processes.run
        self.write("swift.conf", "[swift-hash]\nswift_hash_path_prefix = a\n"
                   "swift_hash_path_suffix = b\n[storage-policy:0]\nname = one\ndefault = yes\n")
        self.write("proxy-server.conf",
                   PROXY.format(here=here, port=self.port, secret=SECRET_KEY))
        for name, port in zip(("account", "container", "object"), self.ports):
            ring = f"{here}/{name}.builder"
            run("swift-ring-builder", ring, "create", "4", "1", "1")
            run("swift-ring-builder", ring, "add", f"r1z1-127.0.0.1:{port}/disk", "1")
            run("swift-ring-builder", ring, "rebalance")
            self.write(f"{name}-server.conf", SERVER.format(here=here, port=port, name=name))
            self.processes.start(name, f"swift-{name}-server", f"{here}/{name}-server.conf")
        self.processes.start("proxy", "swift-proxy-server", f"{here}/proxy-server.conf")
        self.processes.wait_for("proxy", f"{self.endpoint}/")

    def close(self):
        self.processes.close()


class Authority:
    """A certificate authority of our own, a certificate for 127.0.0.1, and Java's store of it."""

    def __init__(self, directory, domain):
        os.makedirs(directory)
        self.certificate = f"{directory}/server.pem"
        self.trust = f"{directory}/trust.p12"
        run = Processes(directory).run
        key, ca = f"{directory}/server.key", f"{directory}/ca"
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            "/CN=Authority of a test", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
        run("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={domain}", "-keyout",
            key, "-out", f"{directory}/server.csr")
        with open(f"{directory}/extensions", "w", encoding="utf-8") as file:
            file.write(f"subjectAltName=DNS:{domain},DNS:*.{domain},IP:127.0.0.1\n")
        run("openssl", "x509", "-req", "-in", f"{directory}/server.csr", "-CA", f"{ca}.pem",
            "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", "2", "-extfile",
            f"{directory}/extensions", "-out", f"{directory}/server.crt")
        with open(self.certificate, "wb") as out:
            for part in (f"{directory}/server.crt", key):
                with open(part, "rb") as file:
                    shutil.copyfileobj(file, out)
        run("keytool", "-importcert", "-noprompt", "-alias", "test", "-file", f"{ca}.pem",
            "-keystore", self.trust, "-storetype", "PKCS12", "-storepass", "changeit")
