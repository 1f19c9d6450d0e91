package io.holdfast.fs.control;

import java.io.IOException;
import java.util.Map;

/**
 * What can be asked of a running daemon. Called from the threads of {@link ControlServer}, several
 * at once. No method may wait without a bound or touch the daemon's own mount.
 */
public interface ControlCommands {
  /** Returns the figures of {@code stats.json}: nested maps, numbers, texts and truth values. */
  Map<String, Object> stats();

  /**
   * Forgets what is known of an entry and everything below it, so that the next access asks the
   * origin.
   *
   * @param path below the mount's root, without a leading slash; empty for everything
   * @return how many entries were forgotten
   * @throws IOException with one line for the user
   */
  long refresh(String path) throws IOException;

  /** Unmounts and ends the daemon. May return before that is done. */
  void stop();

  /** Returns the effective settings as text. */
  String config();
}
