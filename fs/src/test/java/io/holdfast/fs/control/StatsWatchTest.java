package io.holdfast.fs.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class StatsWatchTest {
  private final StatsWatch watch = new StatsWatch();

  @Test
  void row_first_showsRatesSinceTheMount() throws IOException {
    String row = row("{'uptime_seconds': 10, 'opens': {'counted': true, 'total': 1000}}", 0);
    assertThat(row.trim().split(" +")).startsWith("100", "1.00", "0", "0");
  }

  @Test
  void row_second_showsRatesSinceTheFirst() throws IOException {
    row(figures(1000, 1000, 0, 1), 5_000_000_000L);
    String row = row(figures(3000, 1500, 2_000_000, 2), 7_000_000_000L);
    assertThat(row.trim().split(" +"))
        .containsExactly(
            "1,000", "0.75", "250", "1.00", "MB", "0", "B", "0.5", "s", "9.00", "GB", "0");
  }

  @Test
  void row_opensNotCounted_hasNoRatio() throws IOException {
    String row = row("{'uptime_seconds': 10, 'opens': {'counted': false}}", 0);
    assertThat(row.trim().split(" +")).startsWith("-", "-", "0");
  }

  @Test
  void row_underTheHeading_isAligned() throws IOException {
    assertThat(watch.heading())
        .contains("opens/s", "hit ratio", "origin B/s", "resident", "errors");
    assertThat(row(figures(1, 1, 1, 1), 0)).hasSameSizeAs(watch.heading());
  }

  private String row(String json, long nanos) throws IOException {
    return watch.row(StatsTextTest.stats(json.replace('\'', '"')), nanos);
  }

  private static String figures(long opens, long fetched, long bytes, double stalled) {
    return "{'opens': {'counted': true, 'total': %d}, 'cache': {'resident_bytes': 9000000000},"
            .formatted(opens)
        + " 'fetches': {'origin': {'items': %d, 'bytes': %d}},".formatted(fetched, bytes)
        + " 'reads': {'stall_seconds': %s}}".formatted(stalled);
  }
}
