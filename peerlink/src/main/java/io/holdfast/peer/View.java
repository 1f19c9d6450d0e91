package io.holdfast.peer;

import java.util.List;
import java.util.Optional;

/**
 * The nodes that are there, as one of them sees it. Immutable; a change makes another view, with a
 * greater version.
 *
 * @param version counts the views of this node
 * @param self this node; a member of its own view always
 * @param nodes all members, itself included, one for each address, sorted by address
 */
public record View(long version, Node self, List<Node> nodes) {
  /** Copies the list. */
  public View {
    nodes = List.copyOf(nodes);
  }

  /** Returns the view of a node that has no peers, or has not found them yet. */
  public static View alone(Node self) {
    return new View(0, self, List.of(self));
  }

  /** Returns the members that share this node's dataset, itself included. */
  public List<Node> sharing() {
    return nodes.stream().filter(node -> node.dataset().equals(self.dataset())).toList();
  }

  /** Returns the member at an address. */
  public Optional<Node> at(NodeAddress address) {
    return nodes.stream().filter(node -> node.address().equals(address)).findFirst();
  }
}
