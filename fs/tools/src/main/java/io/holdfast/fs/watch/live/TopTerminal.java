package io.holdfast.fs.watch.live;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.watch.Change;
import io.holdfast.fs.watch.TopScreen;
import io.holdfast.fs.watch.TopState;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * {@code holdfast top} on a terminal: shows what the daemon said last, and does what keys say. The
 * daemon is asked on a thread of its own, so keys work also while it does not answer. Not
 * thread-safe.
 */
public final class TopTerminal {
  /** How long the daemon may take before the screen says that it does not answer. */
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private static final long KEY_MILLIS = 100;
  private static final int END_OF_INPUT = -1;

  private final OwnProcess process;
  private final DaemonLook look;
  private TopState state;
  private @Nullable Change change;
  private @Nullable FsException trouble;
  private long troubleNanos;
  private @Nullable Future<Change> asked;
  private long askNanos = System.nanoTime();

  public TopTerminal(OwnProcess process, RunningDaemon daemon, TopState state) {
    this.process = process;
    this.look = new DaemonLook(daemon, DEADLINE, true);
    this.state = state;
  }

  /** Takes the terminal until the user quits. */
  public void run() throws IOException {
    // does not keep the command from ending while it waits for the daemon
    ExecutorService asker = Executors.newSingleThreadExecutor(new NamedThreads("ask"));
    try (FullScreen screen = FullScreen.open(process)) {
      loop(screen, asker);
    } finally {
      asker.shutdownNow();
    }
  }

  private void loop(FullScreen screen, ExecutorService asker) throws IOException {
    boolean stale = true;
    while (true) {
      stale |= takeAnswer();
      if (stale || screen.wasResized() || trouble != null) {
        screen.show((width, height) -> TopScreen.lines(content(), width, height));
        stale = false;
      }
      ask(asker);
      int key = screen.key(KEY_MILLIS);
      if (key == 'q' || key == 'Q' || key == END_OF_INPUT) {
        return;
      }
      if (key >= 0) {
        state = state.after(key);
        stale = true;
      }
    }
  }

  private void ask(ExecutorService asker) {
    if (asked == null && System.nanoTime() - askNanos >= 0) {
      askNanos = System.nanoTime() + Duration.ofMillis(state.intervalMillis()).toNanos();
      asked = state.paused() ? null : asker.submit(look::next);
    }
  }

  /** Takes the answer if it is there; tells whether it was. */
  private boolean takeAnswer() {
    if (asked == null || !asked.isDone()) {
      return false;
    }
    Future<Change> done = asked;
    asked = null;
    try {
      change = done.get();
      trouble = null;
    } catch (ExecutionException e) {
      if (!(e.getCause() instanceof FsException failure)) {
        throw new IllegalStateException(e.getCause());
      }
      if (!DaemonLook.mayPass(failure)) {
        throw look.failure(failure);
      }
      troubleNanos = trouble == null ? System.nanoTime() : troubleNanos;
      trouble = failure;
    } catch (InterruptedException | CancellationException e) {
      throw new IllegalStateException(e); // it is done, and nobody cancels it
    }
    return true;
  }

  private TopScreen.Content content() {
    String text =
        trouble == null
            ? ""
            : look.tryingAgain(trouble)
                + ", for "
                + Human.seconds((System.nanoTime() - troubleNanos) / 1_000_000_000L);
    return new TopScreen.Content(change, state, text);
  }
}
