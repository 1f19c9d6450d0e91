package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Residents make way when the memory that they are charged to gets scarce, and come back. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class MakesWayIT {
  private static final int FILES = 300;
  private static final int FILE_BYTES = 256 << 10;
  private static final long LEAST = 32L << 20;

  /** The free memory of the group: less than the daemon's reserve, more than it needs. */
  private static final long MARGIN = 16L << 20;

  /** room for items in transit, too little to admit an item */
  private static final long STREAMING = 60L << 20;

  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void residents_whenTheDaemonsGroupGetsScarce_makeWayDownToTheLeast_andComeBack()
      throws Exception {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), FILES, i -> FILE_BYTES);
    MemoryCgroup group = MemoryCgroup.create(sandbox, "scarce");
    group.limit(2L << 30);
    Mount mount =
        sandbox.mountWith(
            group.enter(),
            Map.of("HOLDFAST_HEAP", "64m", "HOLDFAST_JAVA_OPTIONS", "-Dholdfast.calm-seconds=1"),
            dataset.root().toString(),
            sandbox.folder("mnt"),
            "--capacity",
            "96M",
            "--transit",
            "32M",
            "--window",
            "0",
            "--memory-min",
            Long.toString(LEAST));
    readAll(mount);
    assertThat(mount.settledStats().residentItems()).isEqualTo(FILES);
    long daemon = mount.pid();

    Stats least =
        Await.value(
            DEADLINE,
            "residents that made way",
            () -> {
              Stats now = mount.stats();
              group.limit(unreclaimable(now) + MARGIN);
              return now;
            },
            now -> now.residentBytes() <= LEAST && isIn(now, "limited"));

    assertThat(least.residentBytes()).isBetween(LEAST - FILE_BYTES, LEAST);
    assertThat(least.number("memory.given_up_bytes"))
        .isEqualTo((long) FILES * FILE_BYTES - least.residentBytes());
    assertThat(mount.lockedBytes()).isEqualTo(least.residentBytes());
    assertThat(Files.readString(mount.log()))
        .contains("residents make way for others: cgroup /", "since --memory-min is 32.0 MiB");
    group.limit(unreclaimable(least) + STREAMING);
    readAll(mount);
    assertThat(mount.settledStats().residentBytes()).as("streamed").isLessThanOrEqualTo(LEAST);

    group.limit(2L << 30);
    mount.awaitStats("a calm time", now -> isIn(now, "ok"));
    readAll(mount);
    assertThat(mount.settledStats().residentItems()).isEqualTo(FILES);
    assertThat(group.kills()).isZero();
    mount.findAgain(DEADLINE);
    assertThat(mount.pid()).as("the same daemon").isEqualTo(daemon);
  }

  private static boolean isIn(Stats stats, String state) {
    return state.equals(stats.at("memory.state"));
  }

  /** Returns the group's memory that the kernel cannot reclaim, as the daemon sees it. */
  private static long unreclaimable(Stats stats) {
    return stats.list("memory.rooms").stream()
        .filter(room -> String.valueOf(room.at("place")).contains("scarce"))
        .mapToLong(room -> room.number("total_bytes") - room.number("available_bytes"))
        .findFirst()
        .orElseThrow();
  }

  private void readAll(Mount mount) {
    sandbox
        .command("sh", "-c", "cat \"$1\"/class_*/* >/dev/null", "sh", mount.mountpoint().toString())
        .mustSucceed();
  }
}
