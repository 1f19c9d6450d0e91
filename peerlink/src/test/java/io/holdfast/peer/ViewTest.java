package io.holdfast.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ViewTest {
  private static final ClusterNode SELF =
      new ClusterNode(new NodeAddress("a", 1), new SharedDataset("imagenet", 8), 100);
  private static final ClusterNode OTHER =
      new ClusterNode(new NodeAddress("b", 1), new SharedDataset("coco", 8), 100);

  @Test
  void alone_hasOneNode() {
    assertThat(View.alone(SELF)).isEqualTo(new View(0, SELF, List.of(SELF)));
  }

  @Test
  void nodes_listChangesLater_viewDoesNot() {
    List<ClusterNode> nodes = new ArrayList<>(List.of(SELF, OTHER));
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
    assertThat(new SharedDataset(id, 8).id()).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../x", "a/b", "a b", "ä", "a\n", "-x", "_x"})
  void dataset_badIds_areRefused(String id) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new SharedDataset(id, 8))
        .withMessageContaining("is no dataset id");
  }

  @Test
  void dataset_idTooLong_isRefused() {
    assertThat(SharedDataset.isId("x".repeat(SharedDataset.LONGEST_ID))).isTrue();
    assertThat(SharedDataset.isId("x".repeat(SharedDataset.LONGEST_ID + 1))).isFalse();
  }
}
