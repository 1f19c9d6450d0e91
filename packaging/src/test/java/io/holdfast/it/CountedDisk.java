package io.holdfast.it;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A disk that counts the bytes that anybody reads from it: a file system in a file, behind a loop
 * device. Reads from the page cache do not count. Goes with its sandbox.
 */
final class CountedDisk {
  private static final Pattern MOUNTPOINT = Pattern.compile(".*/hf-it(\\d+)x\\d+-.*");
  private static final int SECTOR = 512;
  private static final int BYTES_READ_SECTORS = 2;

  private final Sandbox sandbox;
  private final Path root;

  private CountedDisk(Sandbox sandbox, Path root) {
    this.sandbox = sandbox;
    this.root = root;
  }

  /**
   * A new disk, mounted and empty.
   *
   * @param bytes the bytes that must fit, in whole pages
   * @param files how many files
   */
  static CountedDisk create(Sandbox sandbox, String name, long bytes, int files) {
    removeLeftovers(sandbox);
    Path image = sandbox.root().resolve(name + ".ext4");
    CountedDisk disk = new CountedDisk(sandbox, sandbox.folder(name));
    // half as much again, and room for the inodes; empty blocks take no place
    long size = bytes * 3 / 2 + files * 1024L + (32 << 20);
    sandbox.command("truncate", "--size=" + size, image.toString()).mustSucceed();
    sandbox
        .command(
            "mkfs.ext4",
            "-q",
            "-F",
            "-b",
            "4096",
            "-O",
            "^has_journal",
            "-N",
            Integer.toString(files + 1000),
            image.toString())
        .mustSucceed();
    sandbox.mountImage(image, disk.root, "noatime");
    return disk;
  }

  Path root() {
    return root;
  }

  /**
   * Ends the writing: nothing of the files is in the page cache any more, but their names and
   * attributes are. From here on only contents are counted.
   */
  CountedDisk seal() {
    sandbox.command("sync", "-f", root.toString()).mustSucceed();
    try (Stream<Path> entries = Files.walk(root)) {
      for (Path file : entries.filter(Files::isRegularFile).toList()) {
        Posix.dropPages(RawPath.of(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  /** Test runs that were killed left theirs mounted. */
  private static void removeLeftovers(Sandbox sandbox) {
    for (MountTable.Row row : MountTable.rows()) {
      Matcher match = MOUNTPOINT.matcher(row.mountpoint());
      if (row.source().startsWith("/dev/loop")
          && match.matches()
          && ProcessHandle.of(Long.parseLong(match.group(1))).isEmpty()) {
        sandbox.command("umount", "-l", row.mountpoint());
      }
    }
  }

  /** Bytes that were read of the disk since it was mounted. */
  long readBytes() {
    String device =
        MountTable.below(root).stream()
            .filter(row -> row.mountpoint().equals(root.toString()))
            .map(row -> Path.of(row.source()).getFileName().toString())
            .findFirst()
            .orElseThrow();
    try {
      String stat = Files.readString(Path.of("/sys/block", device, "stat")).strip();
      return Long.parseLong(stat.split(" +", -1)[BYTES_READ_SECTORS]) * SECTOR;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
