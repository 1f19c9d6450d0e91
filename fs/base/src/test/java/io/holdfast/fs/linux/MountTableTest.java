package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class MountTableTest {
  private static final MountTable TABLE =
      MountTable.parse(
          """
          27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
          22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw
          60 27 0:50 / /data/set ro,nosuid shared:7 master:1 - fuse.holdfast /old ro,user_id=0,group_id=0
          61 60 0:51 / /data/set ro,nosuid - fuse.holdfast /data\\040set ro,user_id=7,group_id=7
          62 27 0:52 / /mnt/a\\040b\\011c\\012d\\134e rw - fuse.sshfs host:/ rw,user_id=0
          63 27 0:53 / /mnt/nfs rw - nfs4 server:/export rw
          a line without sense
          """);

  @Test
  void at_twoMountsOnAPath_isTheUpper() {
    MountTable.Mount mount = TABLE.at(Path.of("/data/set")).orElseThrow();
    assertThat(mount.source()).isEqualTo("/data set");
    assertThat(mount.number()).isEqualTo(61);
    assertThat(mount.isHoldfast()).isTrue();
    assertThat(mount.isFuse()).isTrue();
    assertThat(mount.userId()).contains("7");
  }

  @Test
  void at_pathBelowAMount_isEmpty() {
    assertThat(TABLE.at(Path.of("/data/set/train"))).isEmpty();
    assertThat(TABLE.at(Path.of("/data"))).isEmpty();
  }

  @Test
  void at_escapedPath_isFound() {
    assertThat(TABLE.at(Path.of("/mnt/a b\tc\nd\\e"))).isPresent();
  }

  @Test
  void at_otherTypes_areNotTakenForOurs() {
    assertThat(TABLE.at(Path.of("/mnt/nfs")).orElseThrow().isFuse()).isFalse();
    MountTable.Mount sshfs = TABLE.at(Path.of("/mnt/a b\tc\nd\\e")).orElseThrow();
    assertThat(sshfs.isFuse()).isTrue();
    assertThat(sshfs.isHoldfast()).isFalse();
  }

  @Test
  void covering_path_isTheDeepestMountAboveIt() {
    assertThat(TABLE.covering(Path.of("/data/set/train")).orElseThrow().source())
        .isEqualTo("/data set");
    assertThat(TABLE.covering(Path.of("/data/settle")).orElseThrow().type()).isEqualTo("ext4");
    assertThat(TABLE.covering(Path.of("/mnt/nfs")).orElseThrow().type()).isEqualTo("nfs4");
  }

  @Test
  void below_directory_isWithoutItsOwnMountAndThoseBesideIt() {
    assertThat(TABLE.below(Path.of("/mnt")))
        .extracting(MountTable.Mount::type)
        .containsExactly("fuse.sshfs", "nfs4");
    assertThat(TABLE.below(Path.of("/data/set"))).isEmpty();
    assertThat(TABLE.below(Path.of("/mnt/n"))).isEmpty();
    assertThat(TABLE.below(Path.of("/"))).hasSize(5);
  }

  @Test
  void read_thisMachine_hasItsRoot() throws IOException {
    assertThat(MountTable.read().covering(Path.of("/nothing/here"))).isPresent();
  }
}
