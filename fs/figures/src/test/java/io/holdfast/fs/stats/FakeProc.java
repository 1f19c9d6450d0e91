package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A machine with the processes that a test puts there. */
final class FakeProc {
  /** In {@code stat}, if the command has no blank. */
  private static final int USER_TIME = 13;

  private final Path root;
  private long ownCpuNanos = 1;

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

  /** Sets the times of a thread, in nanoseconds, and of its process, in seconds. */
  FakeProc times(int pid, int thread, long cpu, long runDelay, double ofProcess) {
    write(pid + "/task/" + thread, "schedstat", cpu + " " + runDelay + " 5\n");
    Path stat = directory(pid).resolve("stat");
    try {
      String[] fields = Files.readString(stat).split(" ", -1);
      fields[USER_TIME] = Long.toString(Math.round(ofProcess * 100));
      Files.writeString(stat, String.join(" ", fields));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  /** Sets the times of all processors together, in seconds. */
  FakeProc processors(double busy, double idle, double waitingForDisk) {
    write(
        ".",
        "stat",
        "cpu  %d 0 0 %d %d 0 0 0 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nctxt 5\n"
            .formatted(
                Math.round(busy * 100), Math.round(idle * 100), Math.round(waitingForDisk * 100)));
    return this;
  }

  /** Has the kernel not tell the times of all processors. */
  void withoutProcessors() {
    try {
      Files.delete(root.resolve("proc/stat"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has the test's own thread take CPU time. */
  void spend(long nanos) {
    ownCpuNanos += nanos;
    write("thread-self", "schedstat", ownCpuNanos + " 0 1\n");
  }

  /** Takes the times of a thread away: it has ended. */
  void ended(int pid, int thread) {
    try {
      Files.delete(directory(pid).resolve("task/" + thread + "/schedstat"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    write(Integer.toString(process), file, text);
  }

  private void write(String folder, String file, String text) {
    try {
      Path directory = Files.createDirectories(root.resolve("proc").resolve(folder));
      Files.writeString(directory.resolve(file), text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
