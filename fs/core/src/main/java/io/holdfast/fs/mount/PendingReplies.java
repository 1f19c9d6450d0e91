package io.holdfast.fs.mount;

import io.holdfast.fs.FsException;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts, by node, the replies that show the node under a name and are still on their way to the
 * kernel. A name may be parted from a node only when there are none: a late reply would lead to the
 * old node for as long as the kernel believes it, or give the old attributes to the new inode.
 *
 * <p>Thread-safe; the monitor guards the counts.
 */
public final class PendingReplies {
  private final Map<Long, Integer> counts = new HashMap<>();
  private final UnderWay requests = new UnderWay();

  /**
   * A request begins whose reply may show nodes.
   *
   * @return to be passed to {@link #replied}
   */
  public int begin() {
    return requests.begin();
  }

  /** Its reply has been given to the kernel. */
  public void replied(int begun) {
    requests.end(begun);
  }

  /**
   * Waits until no reply is on its way to a request that had begun when this was called. Not to be
   * called by a thread that answers requests.
   *
   * @return whether it was so in a bounded time
   */
  public boolean awaitReplies() {
    return requests.awaitEarlier();
  }

  /** A reply that shows the node is on its way. */
  public synchronized void enter(long node) {
    counts.merge(node, 1, Integer::sum);
  }

  /**
   * Looks a name up, for a reply that will show its node, which is entered. One that was parted
   * from its name before it was entered, so that nobody waits for the reply, is not shown.
   */
  public Filesystem.Entry lookup(Filesystem filesystem, long parent, byte[] name)
      throws FsException {
    while (true) {
      Filesystem.Entry found = filesystem.lookup(parent, name);
      if (enterIfCurrent(filesystem, found.node())) {
        return found;
      }
    }
  }

  /** Enters a node that a reply shows; returns false where its name leads elsewhere by now. */
  public boolean enterIfCurrent(Filesystem filesystem, long node) {
    enter(node);
    if (filesystem.isCurrent(node)) {
      return true;
    }
    leave(node);
    return false;
  }

  /** It has been given to the kernel. */
  public synchronized void leave(long node) {
    if (counts.merge(node, -1, Integer::sum) == 0) {
      counts.remove(node);
      notifyAll();
    }
  }

  /**
   * Waits until no reply shows the node.
   *
   * @return whether it was so in a bounded time
   */
  public synchronized boolean awaitNone(long node) {
    return UnderWay.await(this, () -> !counts.containsKey(node));
  }
}
