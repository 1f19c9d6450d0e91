package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.units.Human;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether a directory can be written and has room. A child process looks, because the look
 * may hang.
 */
final class DirectoryProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(2);
  private static final long LEAST_FREE = 100 << 20;

  /**
   * Prints the directory, or the one in which it would be made, whether that one can be written,
   * and its room.
   */
  private static final String SCRIPT =
      "d=$1; while [ ! -d \"$d\" ]; do d=${d%/*}; [ -n \"$d\" ] || d=/; done;"
          + " test -w \"$d\" && echo yes || echo no; stat -f -c '%a %S' -- \"$d\"";

  private final String what;
  private final Path directory;
  private final MountTable mounts;

  /**
   * Creates a probe of a directory.
   *
   * @param what the use of the directory
   */
  DirectoryProbe(String what, Path directory, MountTable mounts) {
    this.what = what;
    this.directory = directory;
    this.mounts = mounts;
  }

  @Override
  public String name() {
    return what;
  }

  @Override
  public List<Finding> run() throws IOException, InterruptedException {
    if (mounts.covering(directory).filter(MountTable.Mount::isHoldfast).isPresent()) {
      return List.of(
          Finding.fail(directory + " is on a mount of Holdfast", "choose another directory"));
    }
    Optional<BoundedCommand.Output> output =
        BoundedCommand.run(
            DEADLINE, 1 << 12, List.of("sh", "-c", SCRIPT, "sh", directory.toString()));
    if (output.isEmpty()) {
      return List.of(
          Finding.fail(
              "%s gives no answer in %d s".formatted(directory, DEADLINE.toSeconds()),
              "repair the storage that it is on, or choose another directory"));
    }
    return List.of(judge(output.get().text().split("\\s+")));
  }

  private Finding judge(String[] words) {
    if (words.length != 3 || !words[1].matches("\\d{1,15}") || !words[2].matches("\\d{1,9}")) {
      return Finding.warn(
          "%s cannot be examined: %s".formatted(directory, String.join(" ", words)), "");
    }
    if (!words[0].equals("yes")) {
      return Finding.fail(
          directory + " cannot be written by this user",
          "change its owner, or choose another directory");
    }
    long free = Long.parseLong(words[1]) * Long.parseLong(words[2]);
    String text = "%s can be written, %s free".formatted(directory, Human.bytes(free));
    return free < LEAST_FREE
        ? Finding.warn(text, "make room there, or choose another directory")
        : Finding.ok(text);
  }
}
