package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ResidentFileTest {
  @TempDir private Path directory;

  @Test
  void randomChanges_openedAgain_giveWhatIsResident() throws FsException {
    long seed = System.nanoTime();
    System.out.println("randomChanges_openedAgain: seed " + seed);
    Random random = new Random(seed);
    Path file = directory.resolve("residents");
    Set<Long> model = new LinkedHashSet<>();
    for (int daemon = 0; daemon < 5; daemon++) {
      try (ResidentFile log = ResidentFile.open(file)) {
        assertThat(log.before()).isEqualTo(List.copyOf(model));
        for (int i = 0; i < 100_000; i++) {
          long item = (1L + random.nextInt(20_000)) << 24 | random.nextInt(3);
          if (model.remove(item)) {
            log.released(item);
          } else {
            log.reserve();
            log.admitted(item);
            model.add(item);
          }
        }
      }
    }
  }

  /** A daemon says of each item that it takes over that it is resident, as of a new one. */
  @Test
  void takenOver_andReleased_isGone() throws FsException {
    Path file = directory.resolve("residents");
    try (ResidentFile log = ResidentFile.open(file)) {
      for (long item = 1; item <= 3; item++) {
        log.reserve();
        log.admitted(item);
      }
    }
    try (ResidentFile log = ResidentFile.open(file)) {
      List<Long> left = new ArrayList<>(log.before());
      for (long item : left) {
        log.reserve();
        log.admitted(item);
      }
      log.released(2);
    }
    try (ResidentFile log = ResidentFile.open(file)) {
      assertThat(log.before()).containsExactly(1L, 3L);
    }
  }
}
