package io.holdfast.fs.linux;

import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This boot of the machine: as long as it lasts, {@link System#nanoTime} is one clock for all. */
public final class Boot {
  private static final Logger log = LoggerFactory.getLogger(Boot.class);

  private static final UUID ID = read(Procfs.host());

  private Boot() {}

  /**
   * Returns what is the same until the machine starts anew; where it is not known, for this JVM.
   */
  public static UUID id() {
    return ID;
  }

  static UUID read(Procfs procfs) {
    try {
      return UUID.fromString(procfs.text(procfs.path("sys/kernel/random/boot_id")).strip());
    } catch (IllegalArgumentException e) {
      log.debug("/proc does not tell the boot: {}", e.toString());
      return UUID.randomUUID();
    }
  }
}
