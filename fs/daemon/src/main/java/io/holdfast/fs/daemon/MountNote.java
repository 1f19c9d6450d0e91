package io.holdfast.fs.daemon;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The note that mount(8) keeps of a mount in /run/mount/utab. Without the note, umount(8) knows
 * only the kernel's type of the mount, "fuse", and calls no helper; but only Holdfast's helper can
 * unmount a mount with residents. mount(8) itself writes and removes the note, and mounts nothing
 * then. If the note cannot be written, {@code umount} finds the mount busy. Thread-safe.
 */
public final class MountNote implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MountNote.class);
  private static final Path TABLE = Path.of("/run/mount/utab");
  private static final String TARGET = "TARGET=";
  private static final int SECONDS = 5;

  private final String source;
  private volatile String mountpoint;

  /** Creates a note, and does not write it yet. */
  MountNote(String source, Path mountpoint) {
    this.source = source;
    this.mountpoint = mountpoint.toString();
  }

  /** Writes the note, and replaces one that a killed daemon has left. */
  MountNote write() {
    close();
    run(
        List.of(
            "mount",
            "-c",
            "-i",
            "-f",
            "-t",
            "fuse.holdfast",
            "-o",
            "ro,uhelper=holdfast",
            source,
            mountpoint));
    return this;
  }

  /** Writes the note for the place that the mount has been moved to. */
  void move(Path place) {
    close();
    mountpoint = place.toString();
    write();
  }

  /** Removes the note, if it is there. */
  @Override
  public void close() {
    remove(mountpoint);
  }

  /** Removes the note that a dead daemon has left of a mount. */
  public static void remove(Path mountpoint) {
    remove(mountpoint.toString());
  }

  private static void remove(String mountpoint) {
    if (isThere(mountpoint)) {
      run(List.of("umount", "-c", "-i", "--fake", mountpoint));
    }
  }

  private static boolean isThere(String mountpoint) {
    try {
      return has(new String(Files.readAllBytes(TABLE), UTF_8), mountpoint);
    } catch (IOException e) {
      return false; // this machine keeps no notes
    }
  }

  /** Tells whether the text of the table has a note of a mount. */
  static boolean has(String table, String mountpoint) {
    return Stream.of(table.split("[ \n]", -1))
        .filter(field -> field.startsWith(TARGET))
        .map(field -> MountTable.unescape(field.substring(TARGET.length())))
        .anyMatch(mountpoint::equals);
  }

  private static void run(List<String> words) {
    try {
      Process process =
          new ProcessBuilder(words)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      process.getOutputStream().close();
      if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      } else if (process.exitValue() != 0) {
        log.debug("{} ended with {}", words, process.exitValue());
      }
    } catch (IOException e) {
      log.debug("{}: {}", words.get(0), e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
