"""What the tests of real servers share: a client, the command, and trees."""

import hashlib
import json
import os
import subprocess
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import servers

PATIENCE = 120


class Failed(Exception):
    """Something is not as it must be."""


def check(condition, what):
    if not condition:
        raise Failed(what)


def eventually(what, condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, f"within {seconds} s: {what}")
        time.sleep(0.05)


def sha(content):
    return hashlib.sha256(content).hexdigest()


class Client:
    """One bucket, by another client than Holdfast's."""

    def __init__(self, endpoint, bucket, access=servers.ACCESS_KEY, region="us-east-1"):
        self.bucket = bucket
        self.s3 = boto3.client(
            "s3", endpoint_url=endpoint, aws_access_key_id=access,
            aws_secret_access_key=servers.SECRET_KEY, region_name=region,
            config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 10},
                          max_pool_connections=16))

    def create(self):
        self.s3.create_bucket(Bucket=self.bucket)
        return self

    def put(self, key, content):
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=content)

    def put_in_parts(self, key, content, part):
        upload = self.s3.create_multipart_upload(Bucket=self.bucket, Key=key)["UploadId"]
        parts = []
        for at in range(0, len(content), part):
            number = at // part + 1
            answer = self.s3.upload_part(Bucket=self.bucket, Key=key, UploadId=upload,
                                         PartNumber=number, Body=content[at:at + part])
            parts.append({"PartNumber": number, "ETag": answer["ETag"]})
        self.s3.complete_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload,
                                          MultipartUpload={"Parts": parts})

    def get(self, key):
        """Returns the bytes of an object, or None where there is none."""
        try:
            return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        except ClientError as failure:
            if failure.response["Error"]["Code"] == "NoSuchKey":
                return None
            raise

    def delete(self, key):
        self.s3.delete_object(Bucket=self.bucket, Key=key)

    def delete_many(self, keys):
        for at in range(0, len(keys), 1000):
            objects = [{"Key": key} for key in keys[at:at + 1000]]
            answer = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": objects})
            check("Errors" not in answer, f"bulk delete: {answer.get('Errors')}")

    def keys(self, prefix=""):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=prefix)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def uploads(self):
        return self.s3.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])


class Holdfast:
    """The built command, with credentials and options of one server."""

    def __init__(self, command, directory, endpoint, access=servers.ACCESS_KEY, options=()):
        self.command = command
        self.directory = directory
        self.options = (f"--s3-endpoint={endpoint}", *options)
        self.environment = {
            **os.environ, "AWS_ACCESS_KEY_ID": access,
            "AWS_SECRET_ACCESS_KEY": servers.SECRET_KEY, "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}

    def try_to(self, *words, environment=None, timeout=PATIENCE):
        return subprocess.run((self.command, *words), capture_output=True, text=True, check=False,
                              env={**self.environment, **(environment or {})}, timeout=timeout)

    def run(self, *words, environment=None, timeout=PATIENCE):
        done = self.try_to(*words, environment=environment, timeout=timeout)
        check(done.returncode == 0, f"holdfast {' '.join(words)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def place(self, name):
        path = os.path.join(self.directory, name)
        os.makedirs(path, exist_ok=True)
        return path

    def mount_words(self, source, name, *options):
        return ("mount", source, self.place(name), f"--name=e2e-s3-{name}", *self.options,
                f"--state-dir={self.place(name + '.state')}",
                f"--log-file={self.directory}/{name}.log", *options)

    def mount(self, source, name, *options, environment=None):
        self.run(*self.mount_words(source, name, *options), environment=environment)
        return Mount(self, name)

    def checkpoint_words(self, store, name, front, *options):
        return ("checkpoint", f"--name=e2e-s3-{name}", f"--front={self.directory}/{front}",
                "--front-capacity=1G", *self.options, *options, store, self.place(name))

    def checkpoint(self, store, name, front, *options):
        self.run(*self.checkpoint_words(store, name, front, *options))
        return Mount(self, name, f"--timeout={PATIENCE}s")


class Mount:
    def __init__(self, holdfast, name, *end_options):
        self.holdfast = holdfast
        self.name = name
        self.path = holdfast.place(name)
        self.end_options = end_options

    def stats(self):
        return json.loads(self.holdfast.run("stats", self.path, "--json"))

    def daemon(self):
        try:
            with open(f"/run/holdfast/e2e-s3-{self.name}.pid", encoding="utf-8") as file:
                return int(file.readline().split()[0])
        except (OSError, IndexError):
            return None

    def settle(self):
        """Waits until nothing lingers that is not resident."""
        eventually("nothing lingers", lambda: self.stats()["transit"]["window_bytes"] == 0)

    def wait(self):
        self.holdfast.run("checkpoint", "wait", f"--timeout={PATIENCE}s", self.path)

    def umount(self):
        self.holdfast.run("umount", *self.end_options, self.path)

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, trace):
        if kind is None:
            self.umount()
        else:
            self.holdfast.try_to("umount", "--force", self.path)


def read(path):
    """Reads a file with as few requests as possible."""
    file = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(file, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(file)


def walk(root):
    """Returns the paths of all files, and of all directories."""
    files, directories = set(), set()
    for path, below, names in os.walk(root):
        files.update(os.path.relpath(os.path.join(path, name), root) for name in names)
        directories.update(os.path.relpath(os.path.join(path, name), root) for name in below)
    return files, directories
