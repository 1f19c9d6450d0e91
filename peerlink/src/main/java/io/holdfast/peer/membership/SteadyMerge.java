package io.holdfast.peer.membership;

import org.jgroups.Event;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.MERGE3;

/**
 * Looks for parts of the cluster that do not know each other, whatever happens to a view.
 *
 * <p>{@link MERGE3} stops looking when a view is about to be installed, and resumes after the
 * installation. But a view that has meanwhile arrived another way is not installed again: when many
 * parts merge at once, each of them sends the same view. The coordinator then never looked again,
 * and since other members leave the search to the coordinator, the cluster stayed in parts.
 */
final class SteadyMerge extends MERGE3 {
  SteadyMerge() {
    // the id for its headers; by default JGroups takes the id of the class
    setId(ClassConfigurator.getProtocolId(MERGE3.class));
  }

  @Override
  public Object down(Event event) {
    return event.getType() == Event.TMP_VIEW ? down_prot.down(event) : super.down(event);
  }
}
