package io.holdfast.fs.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.MountTable.Mount;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnMountEntryTest {
  private static final Path DATA = Path.of("/data");

  @Test
  void isMounted_belowAnotherMount_isTrue() {
    assertThat(isMounted(holdfast("0:50"), new Mount(DATA, "0:51", "tmpfs", "none", "rw")))
        .isTrue();
    assertThat(isMounted(holdfast("0:50"), holdfast("0:51"))).isTrue();
  }

  @Test
  void isMounted_othersAreLeftThere_isFalse() {
    assertThat(isMounted(new Mount(DATA, "0:51", "nfs4", "server:/x", "rw"))).isFalse();
    assertThat(isMounted(holdfast("0:51"))).isFalse();
    assertThat(isMounted(new Mount(Path.of("/bound"), "0:50", "fuse.holdfast", "/data", "ro")))
        .isFalse();
    assertThat(isMounted(new Mount(DATA, "0:50", "tmpfs", "none", "rw"))).isFalse();
  }

  private static Mount holdfast(String device) {
    return new Mount(DATA, device, "fuse.holdfast", "/origin", "ro");
  }

  private static boolean isMounted(Mount... mounts) {
    return OwnMountEntry.isMounted(MountTable.of(List.of(mounts)), DATA, "0:50");
  }
}
