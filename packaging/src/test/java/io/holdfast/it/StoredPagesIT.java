package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The daemon gives the kernel the bytes of residents before anybody asks for them. Between that and
 * the lock nothing holds a page: a kernel that reclaims unused pages before memory is short takes
 * some, and the daemon reads these. It counts them.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoredPagesIT {
  private static final int FILES = 400;

  /** They end within a page. */
  private static final int FILE_BYTES = 50_001;

  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();

  @Test
  void residents_warmedOrReadFirstInAnotherMemoryGroup_areNotAskedForAgain() throws IOException {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "64M");
    assertWarmOfFilesThatNobodyHasLookedAtAsksForNoBytesAndLeavesNothingBehindTheirEnd(
        mount, dataset);

    mount.drop();
    assertThat(mount.settledStats().residentItems()).isZero();

    assertResidentsReadFirstInAnotherMemoryGroupAreNotAskedForTwice(mount);
  }

  /**
   * A program that maps a file sees the rest of its last page, which must not hold other files'
   * bytes.
   */
  private void assertWarmOfFilesThatNobodyHasLookedAtAsksForNoBytesAndLeavesNothingBehindTheirEnd(
      Mount mount, Dataset dataset) throws IOException {
    long before = pagesThatCameBack();
    sandbox.holdfast("warm", mount.name()).mustSucceed();

    Stats warm = mount.settledStats();
    assertThat(warm.residentItems()).isEqualTo(FILES);
    assertThat(warm.requests("READ")).isBetween(0L, pagesThatCameBack() - before);
    assertThat(mount.lockedBytes()).isEqualTo(dataset.pageBytes());
    for (String file : dataset.files()) {
      RawPath path = RawPath.of(mount.path(file));
      assertThat(Posix.isZeroBehindItsEnd(path)).as(file).isTrue();
    }
    Child.Result read =
        sandbox
            .startJava(
                Reader.class,
                mount.mountpoint(),
                dataset.permutation(sandbox, new Random(seed)),
                2,
                "share")
            .await(DEADLINE);
    assertThat(read.exit()).as("seed %d: %s", seed, read).isZero();
    assertThat(mount.settledStats().requests("READ")).isEqualTo(warm.requests("READ"));
  }

  private void assertResidentsReadFirstInAnotherMemoryGroupAreNotAskedForTwice(Mount mount) {
    long before = mount.stats().requests("READ");
    MemoryCgroup readers = MemoryCgroup.create(sandbox, "reader");

    readers.readAll(mount.mountpoint());

    Stats read = mount.settledStats();
    assertThat(read.residentItems()).isEqualTo(FILES);
    // a reader that finds its pages dropped before it has copied them asks again
    assertThat(read.requests("READ") - before).isBetween((long) FILES, FILES * 5L / 4);
    Await.value(
        DEADLINE,
        "no pinned pages charged to the reader's group",
        readers::unevictableBytes,
        bytes -> bytes == 0);
  }

  /** Pages of files that the kernel had taken and that were read again, on the whole machine. */
  private static long pagesThatCameBack() throws IOException {
    String name = "workingset_refault_file ";
    return Files.readAllLines(Path.of("/proc/vmstat")).stream()
        .filter(line -> line.startsWith(name))
        .mapToLong(line -> Long.parseLong(line.substring(name.length())))
        .sum();
  }
}
