package io.holdfast.it;


import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the tests of peers measure with, measured itself. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NetworkIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** Holdfast drops the origin's pages after each fetch, so that each fetch reads the disk. */
  @Test
  void countedDisk_twoEpochsWithoutResidents_countsEachByteOnceAnEpoch() {
    CountedDisk disk = CountedDisk.create(sandbox, "origin", 1000 << 14, 1000);
    Dataset dataset = Dataset.create(disk.root(), 1000, i -> 1 << 14);
    disk.seal();
    Mount mount = sandbox.mount(dataset.root(), "--policy", "none", "--window", "0");
    Random random = new Random(1);
    for (int epoch = 0; epoch < 2; epoch++) {
      long before = disk.readBytes();
      sandbox
          .startJava(
              Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share")
          .await(Duration.ofSeconds(30))
          .mustSucceed();
      mount.settledStats();
      System.out.println(epoch + " " + (disk.readBytes() - before) + " of " + dataset.bytes());
    }
  }
}
