package io.holdfast.fs.allocate;

import static io.holdfast.fs.allocate.Plans.bounded;
import static io.holdfast.fs.allocate.Plans.mount;
import static io.holdfast.fs.allocate.Plans.weighing;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FairShareTest {
  private static final PlannedMount A = mount("a", 1_000, 1, 10, 5);
  private static final PlannedMount B = mount("b", 1_000, 1, 10, 5);
  private static final PlannedMount C = mount("c", 1_000, 1, 10, 5);

  private static long[] shares(long budget, PlannedMount... mounts) {
    return FairShare.of(new Plan(budget, List.of(mounts)));
  }

  @Test
  void budget_isDividedByWeights() {
    assertThat(shares(900, A, B, C)).containsExactly(300, 300, 300);
    assertThat(shares(900, weighing(A, 4), B, C)).containsExactly(600, 150, 150);
    assertThat(shares(100, A, B, C)).containsExactly(33, 33, 33);
  }

  @Test
  void floors_areTakenFromTheOthersByWeight() {
    assertThat(shares(900, bounded(A, 500, 1_000), B, weighing(C, 3)))
        .containsExactly(500, 100, 300);
    assertThat(shares(900, bounded(A, 500, 1_000), bounded(B, 250, 1_000), C))
        .containsExactly(500, 250, 150);
    assertThat(shares(900, bounded(A, 900, 1_000), B)).containsExactly(900, 0);
  }

  @Test
  void share_isAtMostTheCeilingAndTheDataset() {
    assertThat(shares(9_000, bounded(A, 0, 200), B)).containsExactly(200, 1_000);
  }

  /** It was nobody's, while {@code holdfast mount} gave it to the others. */
  @Test
  void whatACeilingLeaves_goesToTheOthers() {
    assertThat(shares(400, bounded(A, 0, 50), B, C)).containsExactly(50, 175, 175);
    assertThat(shares(400, bounded(A, 0, 50), bounded(B, 0, 60), weighing(C, 2)))
        .containsExactly(50, 60, 290);
  }
}
