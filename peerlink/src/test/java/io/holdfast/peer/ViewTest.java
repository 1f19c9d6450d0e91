package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ViewTest {
  private static final Node SELF =
      new Node(new NodeAddress("a", 1), new Dataset("imagenet", 8), 100);
  private static final Node OTHER = new Node(new NodeAddress("b", 1), new Dataset("coco", 8), 100);

  @Test
  void alone_hasOneNode() {
    assertThat(View.alone(SELF)).isEqualTo(new View(0, SELF, List.of(SELF)));
  }

  @Test
  void nodes_listChangesLater_viewDoesNot() {
    List<Node> nodes = new ArrayList<>(List.of(SELF, OTHER));
    View view = new View(1, SELF, nodes);
    nodes.clear();
    assertThat(view.nodes()).containsExactly(SELF, OTHER);
    assertThat(view.sharing()).containsExactly(SELF);
    assertThat(view.at(OTHER.address())).contains(OTHER);
    assertThat(view.at(new NodeAddress("c", 1))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "imagenet-21k_v2.1", "0"})
  void dataset_goodIds_areTaken(String id) {
    assertThat(new Dataset(id, 8).id()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../x", "a/b", "a b", "ä", "a\n", "-x", "_x"})
  void dataset_badIds_areRefused(String id) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Dataset(id, 8))
        .withMessageContaining("is no dataset id");
  }

  @Test
  void dataset_idTooLong_isRefused() {
    assertThat(Dataset.isId("x".repeat(Dataset.LONGEST_ID))).isTrue();
    assertThat(Dataset.isId("x".repeat(Dataset.LONGEST_ID + 1))).isFalse();
  }
}
