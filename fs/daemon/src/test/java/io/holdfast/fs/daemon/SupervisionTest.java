package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * With a full /run the supervisor truncated the count of daemons, and could not write it. The next
 * daemon read 0, and took itself for the first.
 */
class SupervisionTest {
  @TempDir private Path state;

  @Test
  void takesOver_emptyCount_followsFromTheSession() throws IOException {
    Files.createFile(state.resolve("restarts"));
    assertThat(Supervision.at(state).takesOver()).isFalse();
    Files.createFile(state.resolve("session"));
    assertThat(Supervision.at(state).takesOver()).isTrue();
  }

  /**
   * The supervisor of another mount had got the number of a dead one: 'umount --force' of the dead
   * mount killed the daemons of the other.
   */
  @Test
  void isSupervisor_ofAnotherMount_isFalse() {
    Path a = Path.of("/run/user/7/holdfast/a.state");
    assertThat(Supervision.isSupervisor(supervisorOf("/run/user/7/holdfast/a.state"), a)).isTrue();
    assertThat(Supervision.isSupervisor(supervisorOf("/by/a/link/a.state"), a)).isTrue();
    assertThat(Supervision.isSupervisor(supervisorOf("/run/user/7/holdfast/b.state"), a)).isFalse();
    assertThat(Supervision.isSupervisor(supervisorOf("/run/user/7/holdfast/b-a.state"), a))
        .isFalse();
    assertThat(Supervision.isSupervisor(List.of("/bin/less", a.toString()), a)).isFalse();
  }

  private static List<String> supervisorOf(String state) {
    return List.of("/bin/sh", "/usr/lib/holdfast/bin/holdfast-supervise", state);
  }

  /** The first daemon writes the session itself, and stays the first. */
  @Test
  void takesOver_ownSession_isFalse() throws IOException {
    Supervision first = Supervision.at(state);
    Files.createFile(state.resolve("session"));
    assertThat(first.takesOver()).isFalse();
  }
}
