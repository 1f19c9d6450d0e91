package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A user renamed a directory above a mountpoint. The daemon looked for its mount at the old path,
 * took it for unmounted, and ended; the mount stayed, dead, at the new path.
 */
class MountPlaceTest {
  private static final Path BEFORE = Path.of("/scratch/alice/data");
  private static final Path AFTER = Path.of("/scratch/old/data");
  private static final MountId OWN = new MountId("0:50", 70);

  private final MountPlace place = new MountPlace(BEFORE);
  private final List<Path> moves = new ArrayList<>();

  @Test
  void look_directoryAboveWasRenamed_findsTheMountThere() {
    assertThat(look(mount(70, AFTER, "0:50"))).isTrue();
    assertThat(place.path()).isEqualTo(AFTER);
    assertThat(look(mount(70, AFTER, "0:50"))).isTrue();
    assertThat(moves).containsExactly(AFTER);
  }

  @Test
  void look_belowAnotherMount_isMounted() {
    assertThat(look(mount(70, BEFORE, "0:50"), mount(71, BEFORE, "0:51"))).isTrue();
    assertThat(moves).isEmpty();
  }

  /** Each of the two numbers alone may be another mount's. */
  @Test
  void look_otherMountsWithOneOfItsNumbers_isNotMounted() {
    assertThat(look(mount(71, BEFORE, "0:50"), mount(70, AFTER, "0:51"))).isFalse();
    assertThat(place.path()).isEqualTo(BEFORE);
  }

  private boolean look(MountTable.Mount... mounts) {
    return place.look(OWN, MountTable.of(List.of(mounts)), moves::add);
  }

  private static MountTable.Mount mount(int number, Path at, String device) {
    return new MountTable.Mount(number, at, device, "fuse.holdfast", "/origin", "ro");
  }
}
