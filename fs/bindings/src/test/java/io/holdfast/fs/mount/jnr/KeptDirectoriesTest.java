package io.holdfast.fs.mount.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Numbers of nodes are 100 and more here, libfuse's numbers less. */
final class KeptDirectoriesTest {
  private final List<String> forgotten = new ArrayList<>();
  private final KeptDirectories directories =
      new KeptDirectories((number, lookups) -> forgotten.add(number + ": " + lookups));

  @Test
  void withhold_ofADirectoryThatWasLookedInto_isUntilItHasGone() {
    directories.add(100, 5);
    directories.add(100, 5);
    assertThat(directories.withhold(5, 3)).isTrue();
    assertThat(directories.withhold(5, 4)).isTrue();
    assertThat(forgotten).isEmpty();
    directories.gone(100);
    assertThat(forgotten).containsExactly("5: 7");
    assertThat(directories.number(100)).isZero();
    assertThat(directories.withhold(5, 1)).as("libfuse learns of it").isFalse();
    directories.gone(100);
    assertThat(forgotten).hasSize(1);
  }

  @Test
  void gone_whatTheKernelHasNotForgotten_isLeftToTheKernel() {
    directories.add(100, 5);
    directories.gone(100);
    assertThat(forgotten).isEmpty();
    assertThat(directories.withhold(5, 1)).isFalse();
  }

  @Test
  void withhold_ofWhatNobodyLookedInto_isNot() {
    directories.add(100, 5);
    assertThat(directories.withhold(6, 1)).isFalse();
    directories.gone(101);
    assertThat(directories.number(100)).isEqualTo(5);
    assertThat(directories.number(101)).isZero();
  }

  /** libfuse ends the process when it is given a number that it has freed. */
  @Test
  void gone_whileTheNumberIsUsed_isForgottenAfterwards() {
    directories.add(100, 5);
    directories.use(
        100,
        number -> {
          assertThat(number).isEqualTo(5);
          directories.gone(100);
          assertThat(directories.withhold(5, 2)).isTrue();
          assertThat(forgotten).isEmpty();
        });
    assertThat(forgotten).containsExactly("5: 2");
    directories.use(100, number -> forgotten.add("used"));
    assertThat(forgotten).hasSize(1);
  }

  @Test
  void add_anotherNumberOfADirectory_letsGoOfTheFirst() {
    directories.add(100, 5);
    assertThat(directories.withhold(5, 2)).isTrue();
    directories.add(100, 6);
    assertThat(directories.number(100)).isEqualTo(6);
    assertThat(forgotten).containsExactly("5: 2");
    assertThat(directories.withhold(6, 1)).isTrue();
  }

  @Test
  void gone_oneOfTwoNodesOfANumber_keepsIt() {
    directories.add(100, 5);
    directories.add(101, 5);
    assertThat(directories.withhold(5, 1)).isTrue();
    directories.gone(100);
    assertThat(forgotten).isEmpty();
    directories.gone(101);
    assertThat(forgotten).containsExactly("5: 1");
  }

  @Test
  void node_ofANumber_isThatWhichWasAddedLast() {
    directories.add(100, 5);
    assertThat(directories.node(5)).isEqualTo(100);
    assertThat(directories.node(6)).isZero();
    directories.add(101, 5);
    assertThat(directories.node(5)).isEqualTo(101);
    directories.add(100, 5);
    assertThat(directories.node(5)).as("told again").isEqualTo(100);
    directories.gone(100);
    assertThat(directories.node(5)).as("of one that has gone").isZero();
  }
}
