package io.holdfast.peer.membership;

import io.holdfast.peer.View;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * This node's part in a cluster, from joining it to leaving it. Thread-safe. Nothing here throws
 * for what the network does: at worst the view holds this node alone.
 */
public interface Membership extends AutoCloseable {
  /** Returns the view of this moment; never waits. */
  View view();

  /**
   * Calls a listener with each later view, in their order, one at a time, from a thread of the
   * membership.
   */
  void listen(Consumer<View> listener);

  /**
   * Waits until this node has joined, and the peers that were named, if they were named one by one,
   * are there.
   *
   * @return whether they are; false where the time is over
   */
  boolean await(Duration longest) throws InterruptedException;

  /** Returns how many connections were refused: from other clusters, or from no cluster at all. */
  long refusals();

  /** Leaves the cluster, so that the others need not find out. */
  @Override
  void close();
}
