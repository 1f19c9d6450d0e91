package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Checks the meter of {@link PeersIT}: Holdfast drops the origin's pages after each fetch, so each
 * fetch reads the disk.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CountedDiskIT {
  private static final int FILES = 1000;
  private static final int FILE_BYTES = 16 << 10;

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
}
