package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A directory above the mountpoint is renamed, which the owner of the directory above that may do.
 * The daemon once took its mount for unmounted and ended: each reader got ENOTCONN, and a dead
 * mount lay at the new path.
 */
class MovedMountIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** A user puts a symlink where the mountpoint was, which leads to another user's mount. */
  @Test
  void renamed_mountGoesOn_andEndsByNameOrItsNewPlace_andASymlinkInItsPlaceTakesNoOtherAway()
      throws IOException {
    MovedMount theirs = MovedMount.create(sandbox, "bob");
    MovedMount moved = MovedMount.create(sandbox, "alice");
    moved.assertReads();
    assertThat(sandbox.holdfast("stats", moved.mount().name()).mustSucceed().out())
        .contains(moved.place().toString());
    Files.createSymbolicLink(moved.mount().mountpoint().getParent(), theirs.place().getParent());

    sandbox.holdfast("umount", moved.mount().name()).mustSucceed();

    Await.until(
        MovedMount.START, "no mount is left", () -> MountTable.below(moved.place()).isEmpty());
    assertThat(MountTable.holdfastAt(theirs.place())).isNotEmpty();
    theirs.assertReads();

    sandbox.holdfast("umount", theirs.place().toString()).mustSucceed();

    theirs.assertNothingLeft();
  }

  /** Where there is no supervisor, the command takes the dead mount away. */
  @Test
  void killed_afterTheRename_endsByItsNewPlace() {
    MovedMount moved = MovedMount.create(sandbox);
    moved.mount().signal(Posix.SIGKILL);
    Await.until(MovedMount.START, "the daemon gone", () -> !moved.mount().daemonIsAlive());

    sandbox.holdfast("umount", moved.place().toString()).mustSucceed();

    moved.assertNothingLeft();
  }
}
