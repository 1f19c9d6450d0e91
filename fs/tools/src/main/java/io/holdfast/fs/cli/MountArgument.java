package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.RunningDaemon;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The argument of commands about one mount: the only one, unless the user names another. */
final class MountArgument {
  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: the only one.")
  private @Nullable String mount;

  boolean isGiven() {
    return mount != null;
  }

  /** Returns the daemon of the mount, which must be one of a dataset. */
  RunningDaemon daemon(Targets targets) {
    return mount == null ? targets.only() : targets.get(mount);
  }

  /** Returns the daemon of the mount, of a dataset or of checkpoints. */
  RunningDaemon any(Targets targets) {
    return mount == null ? targets.only() : targets.getAny(mount);
  }
}
