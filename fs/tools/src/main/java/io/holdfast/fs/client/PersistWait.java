package io.holdfast.fs.client;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits until the store of a checkpoint mount has what was written, also if the daemon is killed
 * meanwhile: operations have the same numbers for the next one. All runs together have the time
 * that was given, from the first one on. Not thread-safe.
 */
public final class PersistWait {
  /** How long the daemon may take for one answer. */
  public static final Duration DEADLINE = Duration.ofSeconds(10);

  /** How long an answer may take in any case: a daemon that is well answers at once. */
  private static final Duration LEAST_PATIENCE = Duration.ofMillis(500);

  /** The exit code of timeout(1). */
  public static final int TIMED_OUT = 124;

  private static final long PAUSE_MILLIS = 20;

  /** The pause where others wait, and the daemon has answered at once. */
  private static final long LONG_PAUSE_MILLIS = 250;

  private static final Duration PROGRESS = Duration.ofSeconds(5);

  private final OwnProcess process;
  private final RunningDaemon daemon;
  private final @Nullable Duration timeout;
  private final long begin = System.nanoTime();

  public PersistWait(OwnProcess process, RunningDaemon daemon, @Nullable Duration timeout) {
    this.process = process;
    this.daemon = daemon;
    this.timeout = timeout;
  }

  /**
   * Waits; returns 0 when the store has it, 124 when the time is over.
   *
   * @param path below the mountpoint; empty for everything
   * @param progress gets a line every some seconds
   * @throws CliException if the store fails, or there is no such path
   */
  public int run(String path, Consumer<String> progress) {
    long told = System.nanoTime();
    Map<String, Object> last = ask(Map.of("last", path));
    if (last == null) {
      return TIMED_OUT;
    }
    if (Boolean.TRUE.equals(last.get("missing"))) {
      throw CliException.couldNot(
          "'%s' is not in the mount: check the path".formatted(Visible.of(path)));
    }
    Object sequence = last.getOrDefault("sequence", 0L);
    Object failures = last.getOrDefault("failures", 0L);
    while (true) {
      Map<String, Object> answer = ask(Map.of("await", sequence, "failures", failures));
      if (answer == null) {
        return TIMED_OUT;
      }
      if (Boolean.TRUE.equals(answer.get("durable"))) {
        return 0;
      }
      if (answer.get("error") instanceof String error) {
        throw CliException.couldNot(
            "the store fails: " + Visible.of(error) + ": it is asked again, and nothing is lost");
      }
      long now = System.nanoTime();
      if (isOver()) {
        return TIMED_OUT;
      }
      if (now - told > PROGRESS.toNanos()) {
        told = now;
        long pending = answer.get("pending_bytes") instanceof Number bytes ? bytes.longValue() : 0;
        progress.accept("%s are on their way to the store".formatted(Human.bytes(pending)));
      }
      boolean hasWaited = !Boolean.FALSE.equals(answer.get("waited"));
      if (!process.pause(hasWaited ? PAUSE_MILLIS : LONG_PAUSE_MILLIS)) {
        throw CliException.couldNot("interrupted");
      }
    }
  }

  /** Tells whether the time is over. */
  public boolean isOver() {
    return timeout != null && System.nanoTime() - begin > timeout.toNanos();
  }

  /** How long the next answer may take. */
  private Duration patience() {
    if (timeout == null) {
      return DEADLINE;
    }
    Duration left = timeout.minusNanos(System.nanoTime() - begin);
    return Collections.max(List.of(LEAST_PATIENCE, Collections.min(List.of(DEADLINE, left))));
  }

  /**
   * Asks the daemon, or the next one; returns null when the time is over. A next one may never
   * come: it waits for a daemon that was killed and that a store which hangs keeps.
   */
  private @Nullable Map<String, Object> ask(Map<String, Object> request) {
    while (true) {
      try {
        Duration patience = patience();
        return new DaemonClient(daemon, patience, patience).task(request);
      } catch (CliException e) {
        if (isOver()) {
          return null;
        }
        if (!hasNextDaemon()) {
          throw e;
        }
        if (!process.pause(PAUSE_MILLIS)) {
          throw e;
        }
      }
    }
  }

  /** Tells whether the daemon is gone, and its supervisor starts another one. */
  private boolean hasNextDaemon() {
    ControlDirectory control = process.host().control();
    Path state = control.stateDirectory(daemon.name());
    boolean lives =
        control.running(daemon.name()).filter(other -> other.pid() == daemon.pid()).isPresent();
    return !lives && SupervisedMount.isSupervised(state) && !SupervisedMount.hasEnded(state);
  }
}
