package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class SupervisedMountTest {
  /**
   * The supervisor of another mount had got the number of a dead one: 'umount --force' of the dead
   * mount killed the daemons of the other.
   */
  @Test
  void isSupervisor_ofAnotherMount_isFalse() {
    Path a = Path.of("/run/user/7/holdfast/a.state");
    assertThat(SupervisedMount.isSupervisor(supervisorOf("/run/user/7/holdfast/a.state"), a))
        .isTrue();
    assertThat(SupervisedMount.isSupervisor(supervisorOf("/by/a/link/a.state"), a)).isTrue();
    assertThat(SupervisedMount.isSupervisor(supervisorOf("/run/user/7/holdfast/b.state"), a))
        .isFalse();
    assertThat(SupervisedMount.isSupervisor(supervisorOf("/run/user/7/holdfast/b-a.state"), a))
        .isFalse();
    assertThat(SupervisedMount.isSupervisor(List.of("/bin/less", a.toString()), a)).isFalse();
  }

  private static List<String> supervisorOf(String state) {
    return List.of("/bin/sh", "/usr/lib/holdfast/bin/holdfast-supervise", state);
  }
}
