package io.holdfast.fs.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PlainFileTest {
  @TempDir Path temp;

  @Test
  void text_regularFile_isItsText() throws IOException {
    Path file = Files.writeString(temp.resolve("file"), "42\n/mnt/ö\n");
    assertThat(PlainFile.text(file, 11)).isEqualTo("42\n/mnt/ö\n");
    assertThatThrownBy(() -> PlainFile.text(file, 10)).hasMessageContaining("larger than 10");
  }

  @Test
  void text_missingFile_isToldWithItsName() {
    assertThatThrownBy(() -> PlainFile.text(temp.resolve("none"), 10))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("none: No such file");
  }

  /** An open of the pipe would wait for a writer. */
  @Test
  void text_otherFiles_areRefused() throws Exception {
    Path pipe = temp.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path file = Files.writeString(temp.resolve("file"), "42");
    Path link = Files.createSymbolicLink(temp.resolve("link"), file);
    Path zero = Files.createSymbolicLink(temp.resolve("zero"), Path.of("/dev/zero"));
    for (Path other : new Path[] {pipe, link, zero, Path.of("/dev/zero"), temp}) {
      assertThatThrownBy(() -> PlainFile.text(other, 10)).hasMessageContaining("no regular file");
    }
  }
}
