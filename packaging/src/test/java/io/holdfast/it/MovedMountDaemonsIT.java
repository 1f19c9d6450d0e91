package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Daemons take over a mount below a directory that was renamed. Only the kernel binding has a
 * supervisor, which starts them.
 */
class MovedMountDaemonsIT {
  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /** The next daemon pins in the mount where it is, and not in a directory at the old path. */
  @Test
  void killed_nextDaemon_goesOnAtTheNewPlace() throws IOException {
    MovedMount moved = MovedMount.create(sandbox);
    Files.createDirectories(moved.mount().mountpoint());
    moved.mount().signal(Posix.SIGKILL);
    moved.mount().findAgain(MovedMount.START);

    assertThat(moved.isNoticed()).isTrue();
    assertServes(moved);
    sandbox.holdfast("umount", moved.place().toString()).mustSucceed();
    moved.assertNothingLeft();
  }

  @Test
  void restarted_nextDaemon_goesOnAtTheNewPlace() throws IOException {
    MovedMount moved = MovedMount.create(sandbox);
    sandbox.holdfast("restart", moved.mount().name()).mustSucceed();
    moved.mount().findAgain(MovedMount.START);

    assertServes(moved);
    sandbox.holdfast("umount", moved.mount().name()).mustSucceed();
    moved.assertNothingLeft();
  }

  /** The supervisor itself takes the mount away if no daemon is to follow. */
  @Test
  void killed_noNextDaemon_supervisorFindsTheMount() throws IOException {
    MovedMount moved = MovedMount.create(sandbox);
    Files.createFile(moved.mount().state().resolve("ended"));
    moved.mount().signal(Posix.SIGKILL);

    moved.assertNothingLeft();
  }

  private static void assertServes(MovedMount moved) throws IOException {
    moved.assertReads();
    moved
        .mount()
        .awaitStats("all files are resident", stats -> stats.residentItems() == MovedMount.FILES);
  }
}
