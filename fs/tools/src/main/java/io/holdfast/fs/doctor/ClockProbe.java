package io.holdfast.fs.doctor;

import java.time.Clock;
import java.time.Instant;
import java.util.List;

/** Checks whether the clock can be right at all. */
final class ClockProbe implements Probe {
  private static final Instant EARLIEST = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("2100-01-01T00:00:00Z");

  private final Clock clock;

  ClockProbe(Clock clock) {
    this.clock = clock;
  }

  @Override
  public String name() {
    return "clock";
  }

  @Override
  public List<Finding> run() {
    Instant now = clock.instant();
    boolean sane = now.isAfter(EARLIEST) && now.isBefore(LATEST);
    return List.of(
        sane
            ? Finding.ok(now.toString())
            : Finding.fail(
                now + " cannot be right: certificates and S3 refuse it",
                "'timedatectl set-ntp true', or set it with 'date -s'"));
  }
}
