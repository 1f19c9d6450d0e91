package io.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * A short run with faults of all places, always the same ones. Other seeds, other bindings and
 * longer runs: {@code packaging/chaos}.
 */
@Isolated("drops the machine's caches and takes memory")
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChaosIT {
  private static final long SEED = 7929;
  private static final Duration TIME = Duration.ofSeconds(18);
  private static final Path LOGS = Path.of("target/chaos/check");

  @Test
  void faultsOfAllPlaces_violateNothing() throws InterruptedException {
    assertThat(Chaos.schedule(SEED, TIME).faults())
        .extracting(fault -> fault.kind().place())
        .contains(FaultKind.Place.values());
    assertThat(Chaos.violations(SEED, TIME, LOGS)).as("seed %d, logs in %s", SEED, LOGS).isZero();
  }
}
