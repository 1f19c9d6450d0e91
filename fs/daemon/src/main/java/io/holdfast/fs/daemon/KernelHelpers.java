package io.holdfast.fs.daemon;

import io.holdfast.fs.bpf.TerminalAnswer;
import io.holdfast.fs.figures.KernelFigures;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the kernel does for a mount by programs that the daemon gave it. Each daemon of a mount
 * gives the kernel its own, and they end with its process. Without them the mount works as well,
 * and slower. Thread-safe.
 */
final class KernelHelpers implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KernelHelpers.class);

  private volatile @Nullable TerminalAnswer answer;

  /** Begins, once the mount is there; must be closed before it is unmounted. */
  void begin(Path mountpoint) {
    try {
      TerminalAnswer begun = TerminalAnswer.begin(OwnMountEntry.device(mountpoint));
      answer = begun;
      log.info("ioctl TCGETS: the kernel answers by itself (BPF, {})", begun.way());
    } catch (IOException e) {
      log.info("ioctl TCGETS: a message each, because there is no program: {}", e.getMessage());
      log.debug("no program in the kernel", e);
    }
  }

  /** Returns how programs learn that a file is no terminal, as in the figures. */
  String ioctl() {
    TerminalAnswer begun = answer;
    return begun == null ? KernelFigures.MESSAGE : begun.way();
  }

  @Override
  public void close() {
    TerminalAnswer begun = answer;
    answer = null;
    if (begun != null) {
      begun.close();
    }
  }
}
