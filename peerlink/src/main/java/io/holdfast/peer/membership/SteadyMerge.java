package io.holdfast.peer.membership;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.PingData;

/**
 * Looks for parts of the cluster that do not know each other, whatever happens to a view, and tells
 * each node once a round which view this node has.
 *
 * <p>{@link MERGE3} stops looking when a view is about to be installed, and resumes after the
 * installation. But a view that has meanwhile arrived another way is not installed again: when many
 * parts merge at once, each of them sends the same view. The coordinator then never looked again,
 * and since other members leave the search to the coordinator, the cluster stayed in parts.
 *
 * <p>{@link MERGE3} sends its view whenever an answer names a node. As every node answers with all
 * nodes that it knows, each of N nodes sent N² such messages a round.
 */
class SteadyMerge extends MERGE3 {
  private final LongSupplier nanoTime;
  private final Object lock = new Object();

  /** The nodes that have been told in this round; guarded by the lock, as is the next field. */
  private final Set<Address> told = new HashSet<>();

  private long roundStart;

  SteadyMerge(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    roundStart = nanoTime.getAsLong();
    // the id for its headers; by default JGroups takes the id of the class
    setId(ClassConfigurator.getProtocolId(MERGE3.class));
  }

  @Override
  public Object down(Event event) {
    if (event.getType() == Event.VIEW_CHANGE) {
      synchronized (lock) {
        told.clear();
      }
    }
    return event.getType() == Event.TMP_VIEW ? down_prot.down(event) : super.down(event);
  }

  @Override
  protected void sendInfoMessage(PingData node) {
    if (node == null || isNewInRound(node.getPhysicalAddr())) {
      super.sendInfoMessage(node);
    }
  }

  /** A round takes at least the shortest interval; the answers arrive within some milliseconds. */
  private boolean isNewInRound(Address at) {
    long now = nanoTime.getAsLong();
    synchronized (lock) {
      if (now - roundStart >= TimeUnit.MILLISECONDS.toNanos(getMinInterval())) {
        told.clear();
        roundStart = now;
      }
      return at == null || told.add(at);
    }
  }
}
