package io.holdfast.peer;

import java.util.List;
import java.util.Optional;

/**
 * The members of a cluster, as one of them sees them. Immutable; a change creates another view with
 * a greater version.
 *
 * @param version counts the views of this node
 * @param self this node; always a member of its own view
 * @param nodes all members, including this node, one for each address, sorted by address
 */
public record View(long version, ClusterNode self, List<ClusterNode> nodes) {
  /** Copies the list. */
  public View {
    nodes = List.copyOf(nodes);
  }

  /** Returns the view of a node that has no peers, or has not found them yet. */
  public static View alone(ClusterNode self) {
    return new View(0, self, List.of(self));
  }

  /** Returns the members that share this node's dataset, including this node. */
  public List<ClusterNode> sharing() {
    return nodes.stream().filter(node -> node.dataset().equals(self.dataset())).toList();
  }

  /** Returns the member at an address. */
  public Optional<ClusterNode> at(NodeAddress address) {
    return nodes.stream().filter(node -> node.address().equals(address)).findFirst();
  }
}
