package io.holdfast.fs.start;

import io.holdfast.fs.FsException;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.log.DaemonLog;
import io.holdfast.fs.settings.SettingsDocument;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a daemon in this process until it is unmounted or the process gets SIGTERM or SIGINT. A
 * signal during the start waits for the start to end and then unmounts: what was half mounted could
 * not be taken back.
 */
public final class Serve {
  private static final Logger log = LoggerFactory.getLogger(Serve.class);

  /** Longest time from a signal to the end of the process. */
  private static final Duration STOP_DEADLINE = Duration.ofSeconds(20);

  private final DaemonHandle.Starter starter;
  private final Consumer<Thread> atExit;
  private final IntConsumer halt;
  private final CompletableFuture<DaemonHandle> started = new CompletableFuture<>();

  /**
   * Prepares a run.
   *
   * @param starter starts the daemon
   * @param atExit takes a thread that is to run when the process is about to end
   * @param halt ends the process at once with an exit code
   */
  public Serve(DaemonHandle.Starter starter, Consumer<Thread> atExit, IntConsumer halt) {
    this.starter = starter;
    this.atExit = atExit;
    this.halt = halt;
  }

  /**
   * Mounts, reports, and waits for the end of the mount.
   *
   * @param supervision what this process has from its supervisor, or null where it has none
   * @throws FsException when the mount could not be started
   */
  void run(SettingsDocument document, @Nullable Supervision supervision, Report report)
      throws FsException {
    Thread.setDefaultUncaughtExceptionHandler(NamedThreads::logFailure); // of libraries
    document.notes().forEach(log::info);
    atExit.accept(NamedThreads.named("stop-at-exit", this::stop));
    DaemonHandle daemon;
    try {
      daemon = starter.start(document.settings(), supervision);
    } catch (FsException | RuntimeException | Error e) {
      started.completeExceptionally(e);
      log.error("the start failed", e);
      throw e;
    }
    started.complete(daemon);
    report.ready(daemon.plan());
    daemon.awaitStopped();
  }

  private void stop() {
    NamedThreads.start("stop-deadline", this::endWhenOverdue);
    try {
      started.get(STOP_DEADLINE.toSeconds(), TimeUnit.SECONDS).stop();
    } catch (ExecutionException e) {
      // Never started: the caller has the failure.
      return;
    } catch (TimeoutException | InterruptedException e) {
      log.error("the start did not end; the mount may stay behind", e);
    }
    DaemonLog.close();
    // An unmount on SIGTERM is what was wanted, no failure, as which service managers take Java's
    // own code.
    halt.accept(0);
  }

  private void endWhenOverdue() {
    try {
      Thread.sleep(STOP_DEADLINE.toMillis());
      halt.accept(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
