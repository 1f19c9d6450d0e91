package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.bpf.OpenRing;
import io.holdfast.fs.bpf.RingWriter;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Watches the filesystem of a sandbox, in which a child process opens a file. */
final class OpenWatcherTest {
  /** A thread that no machine has. */
  private static final int OPENER = 10_000_000;

  /** One error used to end the watcher: no open was counted until the next daemon. */
  @Test
  void listenerThatFails_isTold_andLaterOpensAreCounted() throws Exception {
    IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
    IsolatedThreads thread = IsolatedThreads.start("test-watch", 1, 0, failures);
    Activity activity = new Activity(JobBy.parse("pid"), 1 << 20, System::nanoTime);
    try (Sandbox sandbox = Sandbox.create();
        OpenWatcher watcher = new OpenWatcher(thread, activity)) {
      assumeTrue(watcher.prepare(), "fanotify, which root may use");
      Path file = Files.writeString(sandbox.path("file"), "x");
      long inode = (Long) Files.getAttribute(file, "unix:ino");
      AtomicInteger opened = new AtomicInteger();
      OutOfMemoryError fault = new OutOfMemoryError("a test");
      activity.listener(
          (job, opener, batch) -> {
            for (int i = 0; i < batch.count(); i++) {
              if (batch.file(i) == inode && opened.incrementAndGet() == 1) {
                throw fault;
              }
            }
          });
      watcher.watch(() -> Linux.openDirectory(sandbox.root()));

      read(file);
      Await.until("the first open is told", () -> opened.get() == 1);
      read(file);
      Await.until("the second open is told", () -> opened.get() == 2);

      assertThat(watcher.isRunning()).isTrue();
      List<Throwable> told = new ArrayList<>();
      failures.take((name, failure) -> told.add(failure));
      assertThat(told).containsExactly(fault);
    }
  }

  /** No open of such files was counted: their jobs had no hit ratio, and followed no order. */
  @Test
  void file_whoseInodeNumberHasTheHighestBit_isCounted() throws Exception {
    IsolatedThreads thread =
        IsolatedThreads.start("test-watch", 1, 0, new IsolatedThreads.Failures());
    Activity activity = new Activity(JobBy.parse("pid"), 1 << 20, System::nanoTime);
    try (Sandbox sandbox = Sandbox.create();
        Overlay overlay = Overlay.mount(sandbox.root());
        OpenWatcher watcher = new OpenWatcher(thread, activity)) {
      assumeTrue(overlay.isMounted && watcher.prepare(), "overlayfs and fanotify, as root");
      Path file = sandbox.path("joined/file");
      long inode = (Long) Files.getAttribute(file, "unix:ino");
      assertThat(inode).isNegative();
      AtomicInteger opened = new AtomicInteger();
      activity.listener(
          (job, opener, batch) -> {
            for (int i = 0; i < batch.count(); i++) {
              opened.addAndGet(batch.file(i) == inode ? 1 : 0);
            }
          });
      watcher.watch(() -> Linux.openDirectory(sandbox.path("joined")));

      read(file);
      Await.until("the open is told", () -> opened.get() == 1);
    }
  }

  /**
   * Opens before, while and after the watcher goes over from fanotify to a program: each is counted
   * once, also those that both tell. The program here writes what the test says, because few
   * kernels that run tests take one that sees opens.
   */
  @Test
  void goingOver_countsEachOpenOnce() throws Exception {
    IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
    IsolatedThreads thread = IsolatedThreads.start("test-watch", 1, 0, failures);
    Activity activity = new Activity(JobBy.parse("pid"), 1 << 20, System::nanoTime);
    try (Sandbox sandbox = Sandbox.create();
        OpenWatcher watcher = new OpenWatcher(thread, activity)) {
      assumeTrue(watcher.prepare(), "fanotify, which root may use");
      assumeTrue(RingWriter.isPermitted(), "BPF programs of sockets, which root may load");
      Path file = Files.writeString(sandbox.path("file"), "x");
      int inode = ((Long) Files.getAttribute(file, "unix:ino")).intValue();
      ConcurrentHashMap<Integer, Integer> opens = new ConcurrentHashMap<>();
      activity.listener(
          (job, opener, batch) -> {
            for (int i = 0; i < batch.count(); i++) {
              if (batch.file(i) == inode) {
                opens.merge(opener, 1, Integer::sum);
              }
            }
          });
      watcher.watch(() -> Linux.openDirectory(sandbox.root()));
      int before = read(file);
      Await.until("the open before is told", () -> opens.equals(Map.of(before, 1)));

      RingWriter writer = new RingWriter();
      Map<Integer, Integer> expected = new HashMap<>(Map.of(before, 1));
      CompletableFuture<Optional<Throwable>> told = new CompletableFuture<>();
      watcher.goOver(
          () -> {
            OpenRing ring = writer.create();
            for (int i = 0; i < 3; i++) {
              expected.put(open(file), 1); // as an open before the program
              int both = open(file);
              writer.write(both, inode, 1, 1);
              expected.put(both, 1);
              int twice = open(file); // one event of fanotify is for two
              writer.write(twice, inode, 1, 2);
              expected.put(twice, 2);
              writer.write(OPENER + i, inode, 1, 1); // as one when fanotify had ended
              expected.put(OPENER + i, 1);
            }
            return ring;
          },
          failure -> told.complete(Optional.ofNullable(failure)));
      assertThat(told.get(60, TimeUnit.SECONDS)).isEmpty();
      assertThat(opens).isEqualTo(expected);
      assertThat(watcher.isByProgram()).isTrue();

      read(file); // by nobody but fanotify, which has ended
      watcher.flush();
      assertThat(opens).isEqualTo(expected);
      assertThat(watcher.overflows()).isZero();
      failures.take(
          (name, failure) -> {
            throw new AssertionError(name, failure);
          });
    }
  }

  @Test
  void programThatTheKernelRefuses_isTold_andFanotifyGoesOn() throws Exception {
    IsolatedThreads thread =
        IsolatedThreads.start("test-watch", 1, 0, new IsolatedThreads.Failures());
    Activity activity = new Activity(JobBy.parse("pid"), 1 << 20, System::nanoTime);
    try (Sandbox sandbox = Sandbox.create();
        OpenWatcher watcher = new OpenWatcher(thread, activity)) {
      assumeTrue(watcher.prepare(), "fanotify, which root may use");
      Path file = Files.writeString(sandbox.path("file"), "x");
      watcher.watch(() -> Linux.openDirectory(sandbox.root()));
      FsException fault = new FsException(FsError.NOT_PERMITTED, "a test");
      CompletableFuture<Optional<Throwable>> told = new CompletableFuture<>();
      watcher.goOver(
          () -> {
            throw fault;
          },
          failure -> told.complete(Optional.ofNullable(failure)));
      assertThat(told.get(60, TimeUnit.SECONDS)).containsSame(fault);
      assertThat(watcher.isByProgram()).isFalse();

      long before = activity.opens();
      read(file);
      Await.until("the open is told", () -> activity.opens() > before);
    }
  }

  /** Opens that the program had no room for: the figures say so, and later opens are counted. */
  @Test
  void ringThatIsFull_isAnOverflow() throws Exception {
    IsolatedThreads thread =
        IsolatedThreads.start("test-watch", 1, 0, new IsolatedThreads.Failures());
    Activity activity = new Activity(JobBy.parse("pid"), 1 << 20, System::nanoTime);
    try (Sandbox sandbox = Sandbox.create();
        OpenWatcher watcher = new OpenWatcher(thread, activity)) {
      assumeTrue(watcher.prepare(), "fanotify, which root may use");
      assumeTrue(RingWriter.isPermitted(), "BPF programs of sockets, which root may load");
      AtomicInteger counted = new AtomicInteger(); // other tests open files on this filesystem, too
      activity.listener(
          (job, opener, batch) -> counted.addAndGet(opener == OPENER ? batch.count() : 0));
      watcher.watch(() -> Linux.openDirectory(sandbox.root()));
      RingWriter writer = new RingWriter();
      watcher.goOver(
          () -> {
            OpenRing ring = writer.create();
            writer.write(OPENER, 5, 1, 300_000);
            return ring;
          },
          failure -> {});
      Await.until("the overflow is told", () -> watcher.overflows() == 1);
      assertThat(counted).hasValue((1 << 18) - 1);
    }
  }

  /** Joins two file systems; the second has a file. */
  private record Overlay(Path root, boolean isMounted) implements AutoCloseable {
    static Overlay mount(Path root) throws IOException {
      String script =
          "set -e; mkdir first second joined; mount -t tmpfs a first; mount -t tmpfs b second;"
              + " echo x > second/file; mount -t overlay -o lowerdir=first:second,xino=on c joined";
      return new Overlay(root, run(root, script) == 0);
    }

    private static int run(Path root, String script) throws IOException {
      try {
        return new ProcessBuilder("sh", "-c", script).directory(root.toFile()).start().waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      run(root, "umount -l joined second first");
    }
  }

  /** Has a process read a file, and returns the process. */
  private static int read(Path file) throws Exception {
    Process process = new ProcessBuilder("cat", file.toString()).start();
    assertThat(process.waitFor()).isZero();
    return (int) process.pid();
  }

  /** Does the same where no other exception may be thrown. */
  private static int open(Path file) {
    try {
      return read(file);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
