package io.holdfast.chaos;

import io.holdfast.it.Await;
import io.holdfast.it.Sandbox;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The disk that the nodes' state directory is on: a small ext4 file system in memory. It can be
 * full, and it can fail: then every call gives EIO, as after an error of its device, until it is
 * mounted again.
 */
final class StateDisk {
  private static final Duration REPAIR = Duration.ofSeconds(60);
  private static final String SIZE = "8M";

  /** {@code EXT4_IOC_SHUTDOWN}, which syncs first: nothing of before is lost. */
  private static final String SHUT_DOWN =
      """
      open my $root, '<', $ARGV[0] or die $!;
      ioctl($root, 0x8004587d, my $flags = pack('L', 0)) or die $!;
      """;

  private final Sandbox sandbox;
  private final Path image;
  private final Path root;

  /**
   * A new disk.
   *
   * @param root where it is mounted
   */
  StateDisk(Sandbox sandbox, Path root) {
    this.sandbox = sandbox;
    this.root = root;
    image = sandbox.tmpfs("state-disk").resolve("image");
    sandbox.command("truncate", "--size=" + SIZE, image.toString()).mustSucceed();
    sandbox.command("mkfs.ext4", "-q", "-F", image.toString()).mustSucceed();
    mount();
  }

  private void mount() {
    sandbox.command("mount", "-o", "loop", image.toString(), root.toString()).mustSucceed();
  }

  /** Takes all space that there is. */
  void fill() {
    sandbox.command("sh", "-c", "cat /dev/zero > \"$1/filler\" 2>/dev/null", "sh", root.toString());
  }

  void fail() {
    sandbox.command("perl", "-e", SHUT_DOWN, root.toString()).mustSucceed();
  }

  /** Has it well again, and room on it. */
  void repair() {
    Await.until(
        REPAIR, "umount of " + root, () -> sandbox.command("umount", root.toString()).exit() == 0);
    mount();
    sandbox.command("rm", "-f", root.resolve("filler").toString()).mustSucceed();
  }
}
