package io.holdfast.peer.membership;

import io.holdfast.peer.NodeAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Tells how a node finds its first peers. Immutable. */
public sealed interface Discovery {
  /**
   * A list of addresses.
   *
   * @param addresses the data plane's addresses of some or all nodes
   */
  record Addresses(List<NodeAddress> addresses) implements Discovery {
    @Override
    public String toString() {
      return String.join(",", addresses.stream().map(NodeAddress::toString).toList());
    }
  }

  /**
   * A DNS name with the addresses of all nodes, such as a headless service's; all nodes listen at
   * the same port.
   */
  record DnsName(String name) implements Discovery {
    @Override
    public String toString() {
      return "dns:" + name;
    }
  }

  /** A directory that every node can write to. */
  record Directory(Path path) implements Discovery {
    @Override
    public String toString() {
      return "dir:" + path;
    }
  }

  /**
   * Parses {@code HOST:PORT,...}, {@code dns:NAME} or {@code dir:/PATH}.
   *
   * @throws IllegalArgumentException where the text is none of these, with a message for the user
   */
  static Discovery parse(String text) {
    if (text.startsWith("dns:")) {
      String name = text.substring("dns:".length());
      if (!name.matches("[A-Za-z0-9]([A-Za-z0-9.-]*)")) {
        throw new IllegalArgumentException("'" + name + "' is no DNS name: write dns:NAME");
      }
      return new DnsName(name);
    }
    if (text.startsWith("dir:")) {
      Path path = Path.of(text.substring("dir:".length()));
      if (!path.isAbsolute()) {
        throw new IllegalArgumentException("'" + path + "' is not absolute: write dir:/PATH");
      }
      return new Directory(path);
    }
    Set<NodeAddress> addresses = new LinkedHashSet<>();
    for (String each : text.split(",", -1)) {
      NodeAddress address = NodeAddress.parse(each.strip());
      if (!addresses.add(address)) {
        throw new IllegalArgumentException(address + " is there twice: name each peer once");
      }
    }
    return new Addresses(new ArrayList<>(addresses));
  }
}
