package io.holdfast.fs.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The note that mount(8) keeps of a mount in /run/mount/utab. Without one, umount(8) asks the
 * kernel alone what it is about to unmount, which says "fuse", and calls no helper; but a mount
 * with residents can only be unmounted by ours. Written and removed by mount(8) itself, which
 * mounts nothing then. Where it cannot be written, {@code umount} finds the mount busy.
 * Thread-safe.
 */
public final class MountNote implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MountNote.class);
  private static final Path TABLE = Path.of("/run/mount/utab");
  private static final int SECONDS = 5;

  private final String source;
  private final String mountpoint;

  /** Names a mount; writes nothing yet. */
  MountNote(String source, Path mountpoint) {
    this.source = source;
    this.mountpoint = mountpoint.toString();
  }

  /** Writes it, in the place of what a daemon that was killed has left. */
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

  /** Removes it, if it is there. */
  @Override
  public void close() {
    remove(mountpoint);
  }

  /** Removes what a daemon that died has left of a mount. */
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
      return Files.readString(TABLE).contains(" TARGET=" + mountpoint + " ");
    } catch (IOException e) {
      return false; // there are no notes here
    }
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
