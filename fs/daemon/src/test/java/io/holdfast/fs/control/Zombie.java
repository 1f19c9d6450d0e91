package io.holdfast.fs.control;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;

/**
 * A process that its parent does not await. Once killed, it is like a daemon of which a thread
 * waits for its source and cannot be killed.
 */
final class Zombie implements AutoCloseable {
  private final Process parent;
  private final long pid;

  /** Starts the process, which lives. */
  Zombie() throws IOException {
    parent =
        new ProcessBuilder("sh", "-c", "sh -c 'echo $$; exec sleep 60' & exec sleep 60")
            .redirectErrorStream(true)
            .start();
    pid = Long.parseLong(parent.inputReader().readLine());
  }

  long pid() {
    return pid;
  }

  /** Kills the process, which stays as a zombie. */
  void kill() {
    boolean unused = ProcessHandle.of(pid).orElseThrow().destroyForcibly();
    while (Procfs.host().state(pid) != Procfs.ZOMBIE) {
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    parent.destroyForcibly();
  }
}
