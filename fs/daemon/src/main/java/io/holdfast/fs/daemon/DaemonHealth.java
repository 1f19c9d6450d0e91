package io.holdfast.fs.daemon;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.ControlDirectory;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the daemon works: its tasks go on, and its socket answers. The origin and the peers
 * do not count: a daemon whose origin hangs is well. Thread-safe.
 */
final class DaemonHealth implements ServiceManager.Health {
  private static final Duration ANSWER_DEADLINE = Duration.ofSeconds(10);
  private static final Duration LONGEST_TASK = Duration.ofSeconds(30);

  private final Pulse pulse;
  private final ControlClient own;

  /**
   * Creates a check of one mount.
   *
   * @param name the mount's name name
   */
  DaemonHealth(Pulse pulse, ControlDirectory control, String name) {
    this.pulse = pulse;
    this.own = new ControlClient(control.socket(name), ANSWER_DEADLINE);
  }

  @Override
  public @Nullable String trouble() {
    String stuck = pulse.stuck(LONGEST_TASK);
    if (stuck != null) {
      return "the task '" + stuck + "' is stuck";
    }
    try {
      own.config();
      return null;
    } catch (FsException e) {
      return "the control socket: " + e.getMessage();
    }
  }
}
