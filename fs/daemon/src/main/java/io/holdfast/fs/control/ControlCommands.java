package io.holdfast.fs.control;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * The commands of a running daemon. The threads of {@link ControlServer} call them, several at
 * once. No method may wait without a bound or touch the daemon's own mount.
 */
public interface ControlCommands {
  /** Returns the figures of {@code stats.json}: nested maps, numbers, texts and truth values. */
  Map<String, Object> stats();

  /** Returns a row of {@code peers.json} for each node of the cluster; none without peers. */
  List<Map<String, Object>> peers();

  /**
   * Compares the known attributes of an entry and everything below it with the origin, and updates
   * what differs.
   *
   * @param path below the mount's root, without a leading slash; empty for everything
   * @return how many entries were different
   * @throws IOException with one line for the user
   */
  long refresh(String path) throws IOException;

  /**
   * Begins, feeds, stops or follows a task; never waits for it.
   *
   * @param request the request, without the command
   * @return the task's progress
   * @throws IOException with one line for the user
   */
  Map<String, Object> task(Map<String, Object> request) throws IOException;

  /**
   * Begins, feeds, takes or forgets the order in which a job will read; never waits for the origin.
   *
   * @param request the request, without the command
   * @return what is known of the order
   * @throws IOException with one line for the user
   */
  Map<String, Object> order(Map<String, Object> request) throws IOException;

  /**
   * Takes the figures of an allocation, which the daemon shows with its own.
   *
   * @param request the request, without the command
   * @return the figures that the daemon shows from now on
   * @throws IOException with one line for the user
   */
  Map<String, Object> allocation(Map<String, Object> request) throws IOException;

  /** Unmounts and ends the daemon. May return before that is done. */
  void stop();

  /**
   * Prepares to hand over to another daemon of the same mount.
   *
   * @return ends this daemon, without unmounting
   * @throws IOException with one line for the user, where no supervisor would start another daemon
   */
  Runnable restart() throws IOException;

  /** Returns a row for each effective setting: setting, value, text (for people) and source. */
  List<Map<String, Object>> config();
}
