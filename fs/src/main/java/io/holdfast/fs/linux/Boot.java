package io.holdfast.fs.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This boot of the machine: as long as it lasts, {@link System#nanoTime} is one clock for all. */
public final class Boot {
  private static final Logger log = LoggerFactory.getLogger(Boot.class);

  private static final UUID ID = read(Path.of("/proc/sys/kernel/random/boot_id"));

  private Boot() {}

  /**
   * Returns what is the same until the machine starts anew; where it is not known, for this JVM.
   */
  public static UUID id() {
    return ID;
  }

  static UUID read(Path file) {
    try {
      return UUID.fromString(Files.readString(file).strip());
    } catch (IOException | IllegalArgumentException e) {
      log.debug("{} does not tell the boot: {}", file, e.toString());
      return UUID.randomUUID();
    }
  }
}
