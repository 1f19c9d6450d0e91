package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jgroups.Address;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ExtendedUUID;
import org.jgroups.util.UUID;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;

final class MemberAddressTest {
  static {
    KnownTypes.install();
  }

  private static final ClusterNode SELF = node("127.0.0.1", 7070, 5);
  private static final ClusterNode LARGE =
      new ClusterNode(
          new NodeAddress("h".repeat(253), 65535),
          new SharedDataset("d".repeat(128), Integer.MAX_VALUE),
          MemberAddress.LARGEST_CAPACITY);

  private static ClusterNode node(String host, int port, long capacity) {
    return new ClusterNode(
        new NodeAddress(host, port), new SharedDataset("imagenet", 8 << 20), capacity);
  }

  @Test
  void nodes_addressesThatTravelled_areTheNodesInOrder() throws Exception {
    ClusterNode six = node("::1", 7070, 6);
    List<Address> members = new ArrayList<>();
    for (ClusterNode each : List.of(LARGE, six, SELF)) {
      byte[] sent = Util.objectToByteBuffer(MemberAddress.of(each, 1));
      members.add(Util.objectFromByteBuffer(sent));
    }
    assertThat(MemberAddress.nodes(members, SELF)).containsExactly(SELF, six, LARGE);
  }

  @Test
  void nodes_twoMembersAtOneAddress_theNewerCounts() {
    Address old = MemberAddress.of(node("127.0.0.2", 7070, 1), 100);
    Address now = MemberAddress.of(node("127.0.0.2", 7070, 2), 101);
    ClusterNode wanted = node("127.0.0.2", 7070, 2);
    assertThat(MemberAddress.nodes(List.of(old, now), SELF)).containsExactly(SELF, wanted);
    assertThat(MemberAddress.nodes(List.of(now, old), SELF)).containsExactly(SELF, wanted);
  }

  @Test
  void nodes_othersClaimThisAddress_thisNodeCounts() {
    Address other = MemberAddress.of(node("127.0.0.1", 7070, 99), Long.MAX_VALUE);
    assertThat(MemberAddress.nodes(List.of(other), SELF)).containsExactly(SELF);
    assertThat(MemberAddress.nodes(List.of(), SELF)).containsExactly(SELF);
  }

  @Test
  void nodes_garbage_isLeftOut() throws Exception {
    Address good = MemberAddress.of(node("127.0.0.2", 7070, 1), 1);
    ExtendedUUID noPort = MemberAddress.of(node("127.0.0.3", 7070, 1), 1);
    byte[] numbers = noPort.get("n").clone();
    numbers[1] = -1;
    noPort.put("n", numbers);
    ExtendedUUID later = MemberAddress.of(node("127.0.0.4", 7070, 1), 1);
    numbers = later.get("n").clone();
    numbers[0] = 2;
    later.put("n", numbers);
    ExtendedUUID negative = MemberAddress.of(node("127.0.0.5", 7070, -1), 1);
    ExtendedUUID badId = MemberAddress.of(node("127.0.0.6", 7070, 1), 1);
    badId.put("d", new byte[] {'.', '.', '/'});
    ExtendedUUID nameless = MemberAddress.of(node("127.0.0.7", 7070, 1), 1);
    nameless.remove(Util.stringToBytes("h"));
    List<Address> members =
        new ArrayList<>(
            List.of(
                UUID.randomUUID(),
                new IpAddress("127.0.0.1", 1),
                ExtendedUUID.randomUUID(),
                noPort,
                later,
                negative,
                badId,
                nameless,
                good));
    assertThat(MemberAddress.nodes(members, SELF))
        .containsExactly(SELF, node("127.0.0.2", 7070, 1));
  }

  /** Otherwise that node would own nearly every item, and each miss would ask it. */
  @Test
  void nodes_capacityThatNoNodeHas_isLeftOut() {
    Address all = MemberAddress.of(node("127.0.0.2", 7070, MemberAddress.LARGEST_CAPACITY + 1), 1);
    assertThat(MemberAddress.nodes(List.of(all), SELF)).containsExactly(SELF);
  }

  @Test
  void nodes_randomFacts_neverThrow() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    List<Address> members = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      ExtendedUUID each = ExtendedUUID.randomUUID();
      for (String key : List.of("h", "d", "n")) {
        byte[] value = new byte[random.nextInt(40)];
        random.nextBytes(value);
        each.put(key, value);
      }
      members.add(each);
    }
    Collections.shuffle(members, random);
    assertThat(MemberAddress.nodes(members, SELF)).as("seed %d", seed).contains(SELF);
  }
}
