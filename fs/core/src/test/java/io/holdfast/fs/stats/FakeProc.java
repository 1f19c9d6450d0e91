package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A machine with the processes that a test puts there. */
final class FakeProc {
  private final Path root;

  FakeProc(Path root) {
    this.root = root;
  }

  Procfs procfs() {
    return Procfs.forIsolatedThreads(root);
  }

  Path directory(int pid) {
    return root.resolve("proc").resolve(Integer.toString(pid));
  }

  FakeProc cgroups(int pid, String... lines) {
    write(pid, "cgroup", String.join("\n", lines) + "\n");
    return this;
  }

  /** Adds a process that was started at a time, in a v1 memory group and a unified one. */
  FakeProc process(int pid, String command, int parent, int session, long started, String cgroup) {
    thread(pid, pid);
    String stat =
        pid + " (" + command + ") S " + parent + " 1 " + session + " 0 -1 0 0 0 0 0 0 0 0 0 20 0 1";
    write(pid, "stat", stat + " 0 " + started + " 1000 10\n");
    write(pid, "cgroup", "4:memory:" + cgroup + "\n1:cpu:/\n0::/\n");
    return this;
  }

  FakeProc environment(int pid, String... variables) {
    write(pid, "environ", String.join("\0", variables) + "\0");
    return this;
  }

  FakeProc thread(int thread, int pid) {
    write(thread, "status", "Name:\tx\nUmask:\t0022\nState:\tS\nTgid:\t" + pid + "\nPid:\t1\n");
    return this;
  }

  void gone(int pid) {
    try {
      for (String file : new String[] {"status", "stat", "cgroup", "environ"}) {
        Files.deleteIfExists(directory(pid).resolve(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(int process, String file, String text) {
    try {
      Path directory = Files.createDirectories(directory(process));
      Files.writeString(directory.resolve(file), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
