package io.holdfast.it;

import java.nio.file.Path;
import java.time.Duration;

/**
 * A small ext4 file system in memory. It can be full, it can hang, and it can fail: then every call
 * gives EIO, as after an error of its device, until it is mounted again.
 */
public final class FailingDisk {
  private static final Duration REPAIR = Duration.ofSeconds(60);

  /** {@code EXT4_IOC_SHUTDOWN}, which syncs first unless it is told not to. */
  private static final String SHUT_DOWN =
      """
      open my $root, '<', $ARGV[0] or die $!;
      ioctl($root, 0x8004587d, my $flags = pack('L', $ARGV[1])) or die $!;
      """;

  private static final String WITH_ALL = "0";
  private static final String WITHOUT_WHAT_IS_NOT_SYNCED = "2";

  private final Sandbox sandbox;
  private final Path image;
  private final Path root;

  /**
   * A new disk.
   *
   * @param root where it is mounted
   * @param size as truncate takes it
   */
  public FailingDisk(Sandbox sandbox, Path root, String size) {
    this.sandbox = sandbox;
    this.root = root;
    image = sandbox.tmpfs(root.getFileName() + "-disk").resolve("image");
    sandbox.command("truncate", "--size=" + size, image.toString()).mustSucceed();
    sandbox.command("mkfs.ext4", "-q", "-F", image.toString()).mustSucceed();
    mount();
  }

  private void mount() {
    sandbox.mountImage(image, root, "defaults");
  }

  /** Takes all space that there is. */
  public void fill() {
    sandbox.command("sh", "-c", "cat /dev/zero > \"$1/filler\" 2>/dev/null", "sh", root.toString());
  }

  public void fail() {
    shutDown(WITH_ALL);
  }

  /**
   * The same as {@link #fail}, but what was not synced is lost, as after a crash of the machine.
   */
  public void crash() {
    shutDown(WITHOUT_WHAT_IS_NOT_SYNCED);
  }

  private void shutDown(String how) {
    sandbox.command("perl", "-e", SHUT_DOWN, root.toString(), how).mustSucceed();
  }

  /** Has all writes wait, until {@link #thaw}. */
  public void freeze() {
    sandbox.command("fsfreeze", "--freeze", root.toString()).mustSucceed();
  }

  /** Ends what {@link #freeze} began, if it did. */
  public void thaw() {
    sandbox.command("fsfreeze", "--unfreeze", root.toString());
  }

  /**
   * Has it well again, and room on it. Nobody may have it open. What is mounted then is a copy: the
   * file system that has failed goes on failing as long as another mount namespace has it, such as
   * one of a test's hosts that has just begun, and would be mounted again.
   */
  public void repair() {
    Await.until(
        REPAIR, "umount of " + root, () -> sandbox.command("umount", root.toString()).exit() == 0);
    String copy = image + ".copy";
    sandbox.command("cp", "--sparse=always", image.toString(), copy).mustSucceed();
    sandbox.command("mv", copy, image.toString()).mustSucceed();
    mount();
    sandbox.command("rm", "-f", root.resolve("filler").toString()).mustSucceed();
  }
}
