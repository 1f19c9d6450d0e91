package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Each fetch reads the origin's disk, once: Holdfast drops the origin's pages after a fetch, and
 * the kernel does not read on beyond what was asked for.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CountedDiskIT {
  private static final int FILES = 1000;
  private static final int FILE_BYTES = 16 << 10;
  private static final int LARGE = 8;
  private static final int LARGE_BYTES = 20_000_000;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void readBytes_twoEpochsWithoutResidents_countsEveryByteInEach() {
    CountedDisk disk = CountedDisk.create(sandbox, "origin", (long) FILES * FILE_BYTES, FILES);
    Dataset dataset = Dataset.create(disk.root(), FILES, i -> FILE_BYTES);
    disk.seal();
    Mount mount = sandbox.mount(dataset.root(), "--policy", "none", "--window", "0");
    Random random = new Random(1);
    for (int epoch = 0; epoch < 2; epoch++) {
      long before = disk.readBytes();
      sandbox
          .startJava(
              Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share")
          .await(Duration.ofMinutes(2))
          .mustSucceed();
      mount.settledStats();
      assertThat(disk.readBytes() - before)
          .isBetween(dataset.bytes() * 99 / 100, dataset.bytes() * 101 / 100);
    }
  }

  /** A reader of a file asks for the next items ahead; the origin's own read-ahead comes on top. */
  @Test
  void readBytes_filesOfManyItems_areReadOnce() {
    CountedDisk disk = CountedDisk.create(sandbox, "large", (long) LARGE * LARGE_BYTES, LARGE);
    Dataset dataset = Dataset.create(disk.root(), LARGE, i -> LARGE_BYTES);
    disk.seal();
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "60M", "--transit", "32M");
    long before = disk.readBytes();
    sandbox
        .startJava(
            Reader.class,
            mount.mountpoint(),
            dataset.permutation(sandbox, new Random(1)),
            1,
            "share")
        .await(Duration.ofMinutes(2))
        .mustSucceed();
    mount.settledStats();
    assertThat(disk.readBytes() - before)
        .isBetween(dataset.bytes() * 99 / 100, dataset.bytes() * 101 / 100);
  }
}
