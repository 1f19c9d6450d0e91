package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BootTest {
  @TempDir private Path directory;

  @Test
  void id_ofThisMachine_isTheKernels() throws Exception {
    assertThat(Boot.id())
        .hasToString(Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip());
  }

  @Test
  void read_fileThatDoesNotTell_isNoBootOfBefore() throws Exception {
    Path file = Files.writeString(directory.resolve("boot_id"), "none\n");
    Path missing = directory.resolve("missing");

    assertThat(Boot.read(file)).isNotEqualTo(Boot.read(file));
    assertThat(Boot.read(missing)).isNotEqualTo(Boot.read(missing));
  }
}
