package io.holdfast.peer.membership;

import io.holdfast.peer.View;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * This node's membership in a cluster, from joining to leaving. Thread-safe. No method throws
 * because of the network: at worst the view has only this node.
 */
public interface Membership extends AutoCloseable {
  /** Returns the current view; never waits. */
  View view();

  /**
   * Calls a listener with each later view, in order, one at a time, from a thread of the
   * membership.
   */
  void listen(Consumer<View> listener);

  /**
   * Waits until this node has joined and, with a list of addresses, all listed peers are members.
   *
   * @return whether they are; false after the timeout
   */
  boolean await(Duration longest) throws InterruptedException;

  /** Returns how many connections were refused: from other clusters, or from no cluster at all. */
  long refusals();

  /**
   * Leaves the cluster, so that the other members need not detect it. No listener is called
   * afterwards: a listener that is being called is waited for, for some seconds.
   */
  @Override
  void close();
}
