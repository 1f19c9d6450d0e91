package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class FstabTest {
  private static final Fstab FSTAB =
      Fstab.parse(
          List.of(
              "# comment /a /b ext4",
              "UUID=1 / ext4 defaults 0 1",
              "UUID=2 none swap sw 0 0",
              "",
              "server:/x /data/with\\040blank nfs noauto 0 0",
              "  server:/y\t/nfs/ nfs ro",
              "broken"));

  private static final MountTable MOUNTS =
      MountTable.of(
          List.of(
              new MountTable.Mount(1, Path.of("/"), "8:1", "ext4", "x", "rw"),
              new MountTable.Mount(1, Path.of("/nfs"), "0:9", "fuse.holdfast", "/nfs", "ro")));

  @Test
  void unmounted_atOrAboveAPath_isFound() {
    assertThat(FSTAB.unmounted(Path.of("/nfs/a/b"), false, MOUNTS)).contains(Path.of("/nfs"));
    assertThat(FSTAB.unmounted(Path.of("/nfs"), false, MOUNTS)).contains(Path.of("/nfs"));
    assertThat(FSTAB.unmounted(Path.of("/nfsx"), true, MOUNTS)).isEmpty();
    assertThat(FSTAB.unmounted(Path.of("/home"), true, MOUNTS)).isEmpty();
  }

  @Test
  void has_aLine_inItsWords() {
    assertThat(FSTAB.has("server:/x", Path.of("/data/with blank"))).isTrue();
    assertThat(FSTAB.has("server:/y", Path.of("/nfs"))).isTrue();
    assertThat(FSTAB.has("y", Path.of("/nfs"))).isFalse();
    assertThat(FSTAB.has("server:/y", Path.of("/nfs/below"))).isFalse();
  }

  @Test
  void unmounted_belowAPath_isFoundIfWanted() {
    assertThat(FSTAB.unmounted(Path.of("/data"), true, MOUNTS))
        .contains(Path.of("/data/with blank"));
    assertThat(FSTAB.unmounted(Path.of("/data"), false, MOUNTS)).isEmpty();
  }
}
