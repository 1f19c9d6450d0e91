package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class BootTest {
  @TempDir private Path root;

  @Test
  void id_ofThisMachine_isTheKernels() throws Exception {
    assertThat(Boot.id())
        .hasToString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
  }

  @Test
  void read_recordedBoot_isThatOne() throws IOException {
    write("01234567-89ab-cdef-0123-456789abcdef\n");
    assertThat(Boot.read(new Procfs(root))).hasToString("01234567-89ab-cdef-0123-456789abcdef");
  }

  /** Times that another process has kept must not count as those of this boot. */
  @ParameterizedTest
  @ValueSource(strings = {"", "none\n", "01234567-89ab\n"})
  void read_fileThatDoesNotTell_isNewEachTime(String text) throws IOException {
    write(text);
    Set<UUID> boots = new HashSet<>();
    for (int i = 0; i < 10; i++) {
      boots.add(Boot.read(new Procfs(root)));
    }
    assertThat(boots).hasSize(10).noneMatch(boot -> boot.getMostSignificantBits() == 0);
  }

  private void write(String text) throws IOException {
    Path file = root.resolve("proc/sys/kernel/random/boot_id");
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
