package io.holdfast.fs.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class WatchRowsTest {
  @Test
  void row_isAlignedUnderItsHeading() {
    Snapshot before = new Looks().look();
    Snapshot after =
        new Looks()
            .at(1)
            .opens(5000, 1000)
            .fetched(100, 20_000_000, 900, 345_000_000)
            .stalled(1.5)
            .process(1, "/a", 1, 1, 0.7)
            .process(2, "/a", 1, 1, 0.8)
            .look();
    assertThat(WatchRows.heading() + WatchRows.row(new Change(before, after)))
        .isEqualTo(
            """
            hit ratio   opens/s fetches/s  from peers from origin stall %  stalled   resident/capacity errors
                 0.80     5,000     1,000  19.1 MiB/s   329 MiB/s    75 %      1.5   38.1 MiB/76.3 MiB      0
            """);
  }

  @Test
  void row_opensThatAreNotCounted_areNotShown() {
    Looks look = new Looks().with("opens", Map.of("counted", false, "total", 0));
    assertThat(WatchRows.row(new Change(null, look.look()))).startsWith("        -         - ");
  }
}
