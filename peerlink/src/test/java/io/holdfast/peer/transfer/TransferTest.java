package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.bytes;
import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.part;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TransferTest {
  private final Nodes nodes = new Nodes();
  private TestNode owner;
  private TestNode asker;

  @BeforeEach
  void start() {
    owner = nodes.start("127.0.0.2");
    asker = nodes.start("127.0.0.3");
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 65_537, 8 << 20})
  void fetch_wholeItem_sameBytes(int length) {
    byte[] sent = owner.put("a/b.jpg", length);
    ByteBuf memory = nodes.memory(length);

    Outcome outcome = fetch(asker, owner.address(), whole("a/b.jpg", length), memory);

    assertThat(outcome).isEqualTo(Outcome.FETCHED);
    assertThat(bytes(memory, length)).isEqualTo(sent);
    assertThat(owner.shelf().askers).containsExactly(asker.address());
    assertThat(owner.shelf().asked).containsExactly(whole("a/b.jpg", length));
  }

  @Test
  void fetch_part_itsBytesAndNoOthers() {
    byte[] sent = owner.put("a", 5000);
    ByteBuf memory = nodes.memory(200);

    Outcome outcome = fetch(asker, owner.address(), part("a", 5000, 1234, 100), memory);

    assertThat(outcome).isEqualTo(Outcome.FETCHED);
    assertThat(bytes(memory, 100)).isEqualTo(Arrays.copyOfRange(sent, 1234, 1334));
    assertThat(bytes(memory, 200)[100]).isEqualTo((byte) 0x5a);
  }
}
