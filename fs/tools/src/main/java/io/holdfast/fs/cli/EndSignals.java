package io.holdfast.fs.cli;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jline.utils.Signals;

/**
 * Takes the signals that tell this process to end, so that a loop can end by itself. Close it to
 * have signals end this process again. Thread-safe.
 */
final class EndSignals implements AutoCloseable {
  private static final List<String> SIGNALS = List.of("HUP", "INT", "TERM");

  private final Map<String, Object> before = new HashMap<>();
  private final AtomicBoolean ended = new AtomicBoolean();

  EndSignals() {
    SIGNALS.forEach(name -> before.put(name, Signals.register(name, () -> ended.set(true))));
  }

  /** Tells whether there was one. */
  boolean isEnded() {
    return ended.get();
  }

  @Override
  public void close() {
    before.forEach(Signals::unregister);
  }
}
