package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeAddressTest {
  @Test
  void parse_addresses_areWrittenAgainAsTheyWere() {
    for (String text : new String[] {"node1:7070", "10.0.0.1:1", "[::1]:65535", "[fe80::1%2]:9"}) {
      assertThat(NodeAddress.parse(text)).hasToString(text);
    }
    assertThat(NodeAddress.parse("[::1]:7070")).isEqualTo(new NodeAddress("::1", 7070));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ":",
        "node1",
        "node1:",
        ":7070",
        "node1:0",
        "node1:65536",
        "node1:-1",
        "node1:x",
        "::1:7070",
        "[::1]",
        "[]:7070",
        "[::1:7070",
        "7070",
        "node 1:7070",
        "n\u00f6de:7070",
        "node\n1:7070",
        "\u001b]0;owned\u0007:7070",
        "<b>:7070"
      })
  void parse_noAddress_isRefusedWithAnExample(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NodeAddress.parse(text))
        .withMessage(
            "'" + text + "' is no address: write HOST:PORT, such as node1:7070 or [::1]:7070");
  }

  /** A peer names itself, in views and in a header, and terminals show that name. */
  @Test
  void host_ofOtherLetters_isRefusedAndNotRepeated() {
    assertThat(new NodeAddress("h".repeat(253), 1).host()).hasSize(253);
    for (String host :
        new String[] {"h".repeat(254), "a b", "\u001b[2J", "a\nb", "a/b", "\u202e"}) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> new NodeAddress(host, 7070))
          .satisfies(e -> assertThat(e.getMessage()).doesNotContain(host));
    }
  }

  @Test
  void compareTo_hostsThenPorts() {
    NodeAddress one = new NodeAddress("a", 10);
    assertThat(one).isLessThan(new NodeAddress("b", 9)).isLessThan(new NodeAddress("a", 11));
    assertThat(one.at(11)).isEqualTo(new NodeAddress("a", 11));
    assertThat(one.compareTo(new NodeAddress("a", 10))).isZero();
  }

  @Test
  void hash_similarNames_differInAllBits() {
    long differ = 0;
    for (int i = 1; i < 200; i++) {
      differ |= new NodeAddress("node" + i, 7070).hash() ^ new NodeAddress("node0", 7070).hash();
    }
    assertThat(differ).isEqualTo(-1L);
  }

  @Test
  void resolve_literalAndUnknown() {
    assertThat(new NodeAddress("127.0.0.2", 7070).resolve().getAddress().getHostAddress())
        .isEqualTo("127.0.0.2");
    assertThat(new NodeAddress("no-such-host.invalid", 1).resolve().isUnresolved()).isTrue();
  }
}
