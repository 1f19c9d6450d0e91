package io.holdfast.fs.doctor;

import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A mount, as other files show it, without touching the mount. Immutable.
 *
 * @param name its name, or its mountpoint if the name is not known
 * @param mountpoint the mountpoint
 * @param mount its line of the mount table; null if nothing is mounted any more
 * @param pid its living daemon, or 0
 * @param deadPid a daemon that died and left its process file, or 0
 * @param supervisor the process that starts daemons, or 0
 * @param socket the socket of its daemon; null if the name is not known
 * @param state the directory of what one daemon leaves to the next; null as for the socket, and if
 *     it is another user's, who may name any file there
 */
public record Subject(
    String name,
    Path mountpoint,
    MountTable.@Nullable Mount mount,
    long pid,
    long deadPid,
    long supervisor,
    @Nullable Path socket,
    @Nullable Path state) {

  /**
   * Tells whether the files that its state and its daemon name may be read. Another user may name
   * files that only the user who asks can read.
   */
  public boolean isTrusted() {
    return state != null;
  }

  /** Tells whether the mount is one for checkpoints, and has no dataset. */
  public boolean isCheckpoint() {
    return (mount != null && mount.isCheckpoint())
        || (state != null && SupervisedMount.isForCheckpoints(state));
  }

  /** Returns the argument by which a command names the mount. */
  public String target() {
    return mountpoint.toString();
  }
}
