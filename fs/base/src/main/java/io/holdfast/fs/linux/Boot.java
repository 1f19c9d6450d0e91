package io.holdfast.fs.linux;

import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Identifies this boot of the machine. Within one boot, {@link System#nanoTime} is one clock for
 * all processes.
 */
public final class Boot {
  private static final Logger log = LoggerFactory.getLogger(Boot.class);

  private static final UUID ID = read(Procfs.host());

  private Boot() {}

  /**
   * Returns an id that stays the same until the machine boots again; if the machine's is not known,
   * an id of this JVM.
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
