package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Mounts come and go while nobody has said a budget. */
class FollowedBudgetTest {
  private final FollowedBudget budget = new FollowedBudget(0);

  /** Looks at mounts, such as {@code one:10}. */
  private long after(String... mounts) {
    List<FoundMount> found =
        Arrays.stream(mounts)
            .map(each -> each.split(":", -1))
            .map(words -> FoundMount.left(words[0], Long.parseLong(words[1]), ""))
            .toList();
    long before = budget.bytes();
    assertThat(budget.grows(found)).isEqualTo(budget.bytes() > before);
    return budget.bytes();
  }

  /** The story of a mount that was unmounted and mounted again, each time with one more share. */
  @Test
  void mountThatGoesAndComesBack_addsNothing() {
    assertThat(after("one:10", "two:10")).isEqualTo(20);
    for (int i = 0; i < 3; i++) {
      assertThat(after("two:10")).isEqualTo(20);
      assertThat(after("two:20")).isEqualTo(20);
      assertThat(after("one:10", "two:20")).isEqualTo(20);
      assertThat(after("one:10", "two:20")).isEqualTo(20);
      assertThat(after("one:10", "two:10")).isEqualTo(20);
    }
  }

  @Test
  void mountThatComes_adds_whatItHasBeyondThoseThatWent() {
    assertThat(after("one:10", "two:10")).isEqualTo(20);
    assertThat(after("one:10", "two:10", "three:5")).isEqualTo(25);
    assertThat(after("two:25")).isEqualTo(25);
    assertThat(after("two:25", "four:15")).isEqualTo(25);
    assertThat(after("two:10", "four:15", "five:1")).isEqualTo(26);
  }

  /** A daemon that is started again has what it had, which may be more than it has brought. */
  @Test
  void restartedMount_addsNothing_unlessItHasMore() {
    after("one:10", "two:10");
    after("one:15", "two:5");
    assertThat(after("two:5")).isEqualTo(20);
    assertThat(after("one:15", "two:5")).isEqualTo(20);
    assertThat(after("one:0", "two:5")).isEqualTo(20);
    assertThat(after("one:0", "two:20")).isEqualTo(20);
    assertThat(after("one:15", "two:20")).isEqualTo(20);
    assertThat(after("two:5")).isEqualTo(20);
    assertThat(after("one:18", "two:5")).isEqualTo(23);
  }

  @Test
  void capacityThatSomebodyRaises_addsWhatIsBeyondTheBudget() {
    after("one:10", "two:10");
    assertThat(after("one:10", "two:5")).isEqualTo(20);
    assertThat(after("one:18", "two:5")).isEqualTo(23);
    assertThat(after("one:18")).isEqualTo(23);
    assertThat(after("one:18", "two:5")).isEqualTo(23);
  }

  /** A daemon may tell any capacity. */
  @Test
  void sumThatNoLongHolds_isBounded() {
    assertThat(after("one:" + Long.MAX_VALUE, "two:" + Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(after("one:1", "two:" + Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    assertThat(after("one:1", "two:1")).isEqualTo(Long.MAX_VALUE);
    assertThat(after("one:" + Long.MAX_VALUE, "two:" + Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
  }
}
