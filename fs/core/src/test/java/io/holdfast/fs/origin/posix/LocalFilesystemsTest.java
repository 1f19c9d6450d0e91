package io.holdfast.fs.origin.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A dataset that no server can hold up has no mount of another machine or of a process in it. */
final class LocalFilesystemsTest {
  private static final MountTable TABLE =
      MountTable.parse(
          """
          27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
          28 27 0:21 / /proc rw - proc proc rw
          29 28 0:22 / /proc/sys/fs/binfmt_misc rw - binfmt_misc binfmt_misc rw
          30 27 0:23 / /data/set/scratch rw - tmpfs tmpfs rw
          31 27 0:24 / /data/set/layers rw - overlay overlay rw
          32 27 0:25 / /data/other/home rw - nfs4 server:/export rw
          33 27 0:26 / /data/other/sim rw - fuse.sshfs host:/ rw,user_id=0
          34 27 0:27 / /data/other/auto rw - autofs /etc/auto.misc rw
          """);

  @Test
  void others_areThoseOfServersAndProcesses() {
    assertThat(LocalFilesystems.others(TABLE.below(Path.of("/data/set")))).isEmpty();
    assertThat(LocalFilesystems.others(TABLE.below(Path.of("/proc")))).isEmpty();
    assertThat(LocalFilesystems.others(TABLE.below(Path.of("/data"))))
        .extracting(MountTable.Mount::type)
        .containsExactly("nfs4", "fuse.sshfs", "autofs");
    assertThat(LocalFilesystems.others(TABLE.onDevice("0:25"))).hasSize(1);
    assertThat(LocalFilesystems.others(TABLE.onDevice("0:24"))).isEmpty();
  }
}
