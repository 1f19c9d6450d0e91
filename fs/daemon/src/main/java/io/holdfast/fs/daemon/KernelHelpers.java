package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.bpf.KernelPrograms;
import io.holdfast.fs.bpf.TerminalAnswer;
import io.holdfast.fs.figures.KernelFigures;
import io.holdfast.fs.linux.MountId;
import io.holdfast.fs.stats.OpenWatcher;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The programs by which the kernel does a part of a mount's work. Each daemon of a mount gives the
 * kernel its own, and they end with its process. Without them the mount works as well, and slower,
 * so the start does not wait for them. Thread-safe.
 */
final class KernelHelpers implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KernelHelpers.class);

  private final Executor thread;
  private final @Nullable OpenWatcher watcher;
  private volatile @Nullable TerminalAnswer answer;
  private boolean closed;

  /**
   * Creates helpers that have not begun.
   *
   * @param thread loads the programs, which takes a tenth of a second
   * @param watcher gets a program that tells opens; null if it is to count with fanotify, or not
   */
  KernelHelpers(Executor thread, @Nullable OpenWatcher watcher) {
    this.thread = thread;
    this.watcher = watcher;
  }

  /** Begins, once the mount is there; must be closed before it is unmounted. */
  void begin(MountId mount) {
    thread.execute(() -> load(mount));
  }

  private synchronized void load(MountId mount) {
    if (closed) {
      return;
    }
    try {
      KernelPrograms programs = KernelPrograms.prepare();
      answer(programs, mount.device());
      if (watcher != null) {
        tellOpens(programs, mount.device(), watcher);
      }
    } catch (FsException e) {
      noAnswer(e);
      if (watcher != null) {
        noOpens(e);
      }
    }
  }

  private void answer(KernelPrograms programs, String device) {
    try {
      TerminalAnswer begun = programs.answer(device);
      answer = begun;
      log.info("ioctl TCGETS: the kernel answers by itself (BPF, {})", begun.way());
    } catch (FsException e) {
      noAnswer(e);
    }
  }

  private static void noAnswer(FsException reason) {
    log.info("ioctl TCGETS: a message each, because there is no program: {}", reason.getMessage());
    log.debug("no program in the kernel", reason);
  }

  private void tellOpens(KernelPrograms programs, String device, OpenWatcher watcher) {
    try {
      // the watcher's thread must not log
      watcher.goOver(
          programs.opens(device)::begin, failure -> thread.execute(() -> wentOver(failure)));
    } catch (FsException e) {
      noOpens(e);
    }
  }

  private static void wentOver(@Nullable Throwable failure) {
    if (failure == null) {
      log.info("opens: a program in the kernel tells them (BPF)");
    } else {
      noOpens(failure);
    }
  }

  private static void noOpens(Throwable reason) {
    log.info("opens: fanotify tells them, because there is no program: {}", reason.getMessage());
    log.debug("no program in the kernel", reason);
  }

  /** Returns how programs learn that a file is no terminal, as in the figures. */
  String ioctl() {
    TerminalAnswer begun = answer;
    return begun == null ? KernelFigures.MESSAGE : begun.way();
  }

  /** Waits for a program that is just being loaded. */
  @Override
  public synchronized void close() {
    closed = true;
    TerminalAnswer begun = answer;
    answer = null;
    if (begun != null) {
      begun.close();
    }
  }
}
