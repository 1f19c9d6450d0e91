package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A directory above the mountpoint is renamed, which the owner of the directory above that may do.
 * The daemon once took its mount for unmounted and ended: each reader got ENOTCONN, and a dead
 * mount lay at the new path.
 */
class MovedMountIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void renamed_mountGoesOn_andEndsByName() throws IOException {
    MovedMount moved = MovedMount.create(sandbox);
    moved.assertReads();
    assertThat(sandbox.holdfast("stats", moved.mount().name()).mustSucceed().out())
        .contains(moved.place().toString());

    sandbox.holdfast("umount", moved.mount().name()).mustSucceed();

    moved.assertNothingLeft();
  }

  @Test
  void renamed_mountGoesOn_andEndsByItsNewPlace() throws IOException {
    MovedMount moved = MovedMount.create(sandbox);
    moved.assertReads();

    sandbox.holdfast("umount", moved.place().toString()).mustSucceed();

    moved.assertNothingLeft();
  }

  /** A user puts a symlink where the mountpoint was, which leads to another user's mount. */
  @Test
  void renamed_symlinkInItsPlace_takesNoOtherMountAway() throws IOException {
    Path theirs = Files.createDirectories(sandbox.folder("theirs").resolve("data"));
    Mount other = sandbox.mountAt(sandbox.folder("origin-theirs"), theirs, "--capacity", "64M");
    MovedMount moved = MovedMount.create(sandbox);
    Files.createSymbolicLink(moved.mount().mountpoint().getParent(), theirs.getParent());

    sandbox.holdfast("umount", moved.mount().name()).mustSucceed();

    Await.until(
        MovedMount.START, "no mount is left", () -> MountTable.below(moved.place()).isEmpty());
    assertThat(other.isMounted()).isTrue();
    other.umount().mustSucceed();
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
