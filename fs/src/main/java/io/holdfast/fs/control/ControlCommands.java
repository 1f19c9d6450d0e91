package io.holdfast.fs.control;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * What can be asked of a running daemon. Called from the threads of {@link ControlServer}, several
 * at once. No method may wait without a bound or touch the daemon's own mount.
 */
public interface ControlCommands {
  /** Returns the figures of {@code stats.json}: nested maps, numbers, texts and truth values. */
  Map<String, Object> stats();

  /** Returns a row of {@code peers.json} for each node of the cluster; none without peers. */
  List<Map<String, Object>> peers();

  /**
   * Compares what is known of an entry and everything below it with the origin, and shows what is
   * different there.
   *
   * @param path below the mount's root, without a leading slash; empty for everything
   * @return how many entries were different
   * @throws IOException with one line for the user
   */
  long refresh(String path) throws IOException;

  /**
   * Begins, feeds, stops or asks after something that takes long; never waits for it.
   *
   * @param request what is asked, besides the command
   * @return how far it has come
   * @throws IOException with one line for the user
   */
  Map<String, Object> task(Map<String, Object> request) throws IOException;

  /** Unmounts and ends the daemon. May return before that is done. */
  void stop();

  /**
   * Prepares to make way for another daemon of the same mount.
   *
   * @return what ends this one, without unmounting
   * @throws IOException with one line for the user, where nobody would start another
   */
  Runnable restart() throws IOException;

  /** Returns a row for each effective setting: setting, value, text (for people) and source. */
  List<Map<String, Object>> config();
}
