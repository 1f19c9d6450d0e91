package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.fs.Await;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Watches the filesystem of a sandbox, in which a child process opens a file. */
final class OpenWatcherTest {
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

  private static void read(Path file) throws Exception {
    assertThat(new ProcessBuilder("cat", file.toString()).start().waitFor()).isZero();
  }
}
