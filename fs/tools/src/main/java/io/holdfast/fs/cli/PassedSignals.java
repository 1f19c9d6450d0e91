package io.holdfast.fs.cli;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.utils.Signals;

/**
 * Passes the signals that end this process on to another, and goes on. A terminal sends Ctrl-C to
 * both, so that the first SIGINT is not passed on where this process is in a terminal's foreground.
 * Close it to have signals end this process again. Thread-safe.
 */
final class PassedSignals implements AutoCloseable {
  private static final Map<String, Integer> SIGNALS = Map.of("HUP", 1, "INT", 2, "TERM", 15);

  private final Map<String, Object> before = new LinkedHashMap<>();
  private final AtomicBoolean interrupted = new AtomicBoolean();
  private final boolean foreground;

  /**
   * Begins.
   *
   * @param to the process that gets them
   * @param foreground whether a terminal sends its Ctrl-C to it as well
   */
  PassedSignals(Process to, boolean foreground) {
    this.foreground = foreground;
    SIGNALS.forEach(
        (name, number) -> before.put(name, Signals.register(name, () -> pass(to, name, number))));
  }

  private void pass(Process to, String name, int number) {
    boolean first = !interrupted.getAndSet(true);
    if (to.isAlive() && !(name.equals("INT") && foreground && first)) {
      LIBC.kill((int) to.pid(), number);
    }
  }

  /** Tells whether there was one. */
  boolean isInterrupted() {
    return interrupted.get();
  }

  @Override
  public void close() {
    before.forEach(Signals::unregister);
  }
}
