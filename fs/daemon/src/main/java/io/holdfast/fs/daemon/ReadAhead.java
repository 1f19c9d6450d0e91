package io.holdfast.fs.daemon;

import io.holdfast.fs.linux.MountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How far the kernel reads ahead on the own mount. Stateless. */
final class ReadAhead {
  private static final Logger log = LoggerFactory.getLogger(ReadAhead.class);

  /** How far the kernel reads ahead of a sequential reader: several requests, so they overlap. */
  private static final String KIBIBYTES = "1024";

  private ReadAhead() {}

  /**
   * Raises the mount's readahead if that is permitted; otherwise reads of large files are only
   * slower.
   */
  static void raise(MountId mount) {
    try {
      Files.writeString(Path.of("/sys/class/bdi/" + mount.device() + "/read_ahead_kb"), KIBIBYTES);
    } catch (IOException e) {
      log.debug("readahead stays as it is", e);
    }
  }
}
