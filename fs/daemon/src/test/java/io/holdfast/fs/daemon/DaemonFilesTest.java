package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Tests of {@link DaemonFiles}; the content of the files is checked on real mounts. */
final class DaemonFilesTest {
  private final FakeClock clock = new FakeClock();
  private final AtomicInteger made = new AtomicInteger();

  private Figures figures() {
    made.incrementAndGet();
    return FiguresJson.figures(Map.of());
  }

  /**
   * Any user of the machine could cost it a processor, and keep readers of control files waiting.
   */
  @Test
  void metrics_askedForAllTheTime_areMadeNowAndThen() {
    Supplier<byte[]> metrics = DaemonFiles.metrics("m", this::figures, List::of, clock);

    for (int i = 0; i < 100; i++) {
      assertThat(metrics.get()).isNotEmpty();
      clock.advance(Duration.ofMillis(5));
    }

    assertThat(made.get()).isBetween(2, 3);
  }
}
