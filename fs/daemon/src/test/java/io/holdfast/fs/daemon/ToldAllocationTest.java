package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import io.holdfast.fs.figures.AllocationFigures;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToldAllocationTest {
  private Instant now = Instant.parse("2026-11-21T10:00:00Z");

  private final ToldAllocation allocation =
      new ToldAllocation(
          new Clock() {
            @Override
            public ZoneId getZone() {
              return ZoneOffset.UTC;
            }

            @Override
            public Clock withZone(ZoneId zone) {
              return this;
            }

            @Override
            public Instant instant() {
              return now;
            }
          });

  @Test
  void figures_areThoseThatWereToldLast() throws FsException {
    assertThat(allocation.figures()).isEmpty();

    allocation.take(Map.of("budget_bytes", 10L, "proposed_bytes", 3, "changed", true));
    now = now.plusSeconds(5);
    allocation.take(
        Map.of("budget_bytes", 20L, "proposed_bytes", 4, "fair_share_bytes", 5, "changed", false));

    AllocationFigures figures = allocation.figures().orElseThrow();
    assertThat(figures.budgetBytes()).isEqualTo(20);
    assertThat(figures.proposedBytes()).isEqualTo(4);
    assertThat(figures.fairShareBytes()).hasValue(5);
    assertThat(figures.changes()).isEqualTo(1);
    assertThat(figures.toldSeconds()).isEqualTo(now.getEpochSecond());
    assertThat(figures.changedSeconds()).hasValue(now.getEpochSecond() - 5);
  }

  @ParameterizedTest
  @CsvSource({
    "budget_bytes, 5, budget_bytes and proposed_bytes are needed",
    "budget_bytes, -1, budget_bytes must be a number of bytes",
    "proposed_bytes, x, proposed_bytes must be a number of bytes"
  })
  void nonsense_isRefused_andChangesNothing(String key, String value, String message) {
    Object given = value.equals("x") ? value : (Object) Long.parseLong(value);

    assertThatThrownBy(() -> allocation.take(Map.of(key, given)))
        .isInstanceOf(FsException.class)
        .hasMessage(message);
    assertThat(allocation.figures()).isEmpty();
  }
}
