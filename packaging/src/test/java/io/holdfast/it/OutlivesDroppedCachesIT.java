package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * As {@link OutlivesDaemonIT}, where the machine has dropped its caches meanwhile: no other test
 * runs at the same time.
 */
@Isolated
class OutlivesDroppedCachesIT {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** What is no longer in the page cache is not resident after a restart, and is so again later. */
  @Test
  void killed_residentsGoneMeanwhile_areFetchedWhenTheyAreRead() {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 200, i -> 20_000);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "1G");
    read(mount, dataset);
    mount.settledStats();
    mount.preventRestart();
    mount.signal(Posix.SIGKILL);
    Await.until(DEADLINE, "the daemon ended", () -> !mount.daemonIsAlive());
    Machine.dropCaches(1);
    // the kernel may keep a page that it has just used
    long kept =
        dataset.files().stream()
            .filter(file -> mount.cachedBytes(List.of(file)) == Dataset.pageBytes(20_000))
            .count();
    assertThat(kept).isLessThan(dataset.count() / 2);
    mount.allowRestart();
    mount.findAgain(DEADLINE);

    read(mount, dataset);
    Stats after = mount.settledStats();
    assertThat(after.residentItems()).isEqualTo(dataset.count());
    assertThat(after.originItems()).isEqualTo(dataset.count() - kept);
  }

  private void read(Mount mount, Dataset dataset) {
    sandbox
        .startJava(
            Reader.class,
            mount.mountpoint(),
            dataset.permutation(sandbox, new Random(1)),
            2,
            "share")
        .await(DEADLINE)
        .mustSucceed();
  }
}
