package io.holdfast.peer.membership;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jgroups.Address;
import org.jgroups.util.ExtendedUUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's facts inside its JGroups address, so that every JGroups view brings the facts of all
 * members without another message.
 *
 * <p>Three values, each of at most 255 bytes:
 *
 * <pre>
 *   h  host, UTF-8
 *   d  dataset id, ASCII
 *   n  format (1 byte) | data-plane port (4) | item size (4) | capacity (8) | start (8)
 * </pre>
 *
 * <p>The start, in milliseconds since 1970, tells which of two members at one address is the newer
 * one. Pure functions.
 */
final class MemberAddress {
  /**
   * More than any node's memory. Items are placed by capacity, so a member that claims an unlimited
   * capacity would be asked for all items.
   */
  static final long LARGEST_CAPACITY = 1L << 50;

  private static final Logger log = LoggerFactory.getLogger(MemberAddress.class);
  private static final byte FORMAT = 1;
  private static final int NUMBERS_LENGTH = 25;
  private static final String HOST = "h";
  private static final String DATASET = "d";
  private static final String NUMBERS = "n";

  private record Member(ClusterNode node, long start) {}

  private MemberAddress() {}

  /** Creates an address for a node that starts now. */
  static ExtendedUUID of(ClusterNode node, long start) {
    byte[] numbers =
        ByteBuffer.allocate(NUMBERS_LENGTH)
            .put(FORMAT)
            .putInt(node.address().port())
            .putInt(node.dataset().itemSize())
            .putLong(node.capacityBytes())
            .putLong(start)
            .array();
    return ExtendedUUID.randomUUID(node.address().toString())
        .put(HOST, node.address().host().getBytes(StandardCharsets.UTF_8))
        .put(DATASET, node.dataset().id().getBytes(StandardCharsets.US_ASCII))
        .put(NUMBERS, numbers);
  }

  /**
   * Returns the nodes of some members: the newest member at each data-plane address, sorted by
   * address. Includes this node as it knows itself. Omits members that cannot be read.
   */
  static List<ClusterNode> nodes(Collection<Address> members, ClusterNode self) {
    Map<NodeAddress, Member> byAddress = new HashMap<>();
    byAddress.put(self.address(), new Member(self, Long.MAX_VALUE));
    for (Address each : members) {
      try {
        Member member = read(each);
        byAddress.merge(
            member.node().address(), member, (old, now) -> now.start() > old.start() ? now : old);
      } catch (IllegalArgumentException | BufferUnderflowException e) {
        log.warn("left out member {}, which is none of ours: {}", each, e.toString());
      }
    }
    return byAddress.values().stream()
        .map(Member::node)
        .sorted((one, other) -> one.address().compareTo(other.address()))
        .toList();
  }

  private static Member read(Address address) {
    if (!(address instanceof ExtendedUUID facts)) {
      throw new IllegalArgumentException("no facts");
    }
    byte[] host = facts.get(HOST);
    byte[] dataset = facts.get(DATASET);
    byte[] numbers = facts.get(NUMBERS);
    if (host == null || dataset == null || numbers == null || numbers.length < NUMBERS_LENGTH) {
      throw new IllegalArgumentException("facts are missing");
    }
    ByteBuffer buffer = ByteBuffer.wrap(numbers);
    byte format = buffer.get();
    if (format != FORMAT) {
      throw new IllegalArgumentException("format " + format);
    }
    NodeAddress at = new NodeAddress(new String(host, StandardCharsets.UTF_8), buffer.getInt());
    SharedDataset served =
        new SharedDataset(new String(dataset, StandardCharsets.US_ASCII), buffer.getInt());
    long capacity = buffer.getLong();
    if (capacity < 0 || capacity > LARGEST_CAPACITY || served.itemSize() < 1) {
      throw new IllegalArgumentException("capacity " + capacity + ", " + served);
    }
    return new Member(new ClusterNode(at, served, capacity), buffer.getLong());
  }
}
