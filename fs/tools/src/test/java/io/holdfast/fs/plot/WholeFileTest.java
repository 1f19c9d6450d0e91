package io.holdfast.fs.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Root's {@code holdfast analyze --html /dev/null} put a plain file in the place of the device, for
 * all programs of the machine.
 */
class WholeFileTest {
  @TempDir private Path temp;

  private static void write(Path file, String text) throws IOException {
    WholeFile.of(file.toString()).write(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void file_isReplaced_andNothingIsLeftBesideIt() throws IOException {
    Path file = temp.resolve("report.html");
    write(file, "a longer one");
    write(file, "new");
    assertThat(file).hasContent("new");
    assertThat(temp).isDirectoryContaining(file::equals).isDirectoryNotContaining("glob:.*");
  }

  @Test
  void fileOfItsOwnerAlone_staysThat() throws IOException {
    Path file = Files.writeString(temp.resolve("report.html"), "old");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    write(file, "new");
    assertThat(file).hasContent("new");
    assertThat(mode(file)).isEqualTo("rw-------");
  }

  @Test
  void link_isRefused_andStays() throws IOException {
    Path file = Files.writeString(temp.resolve("file"), "old");
    for (Path leads : new Path[] {file, temp.resolve("nowhere"), Path.of("/dev/null")}) {
      Path link = temp.resolve("link");
      Files.createSymbolicLink(link, leads);
      assertThatThrownBy(() -> WholeFile.of(link.toString()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'" + link + "' is a link: name the file itself");
      assertThat(link).isSymbolicLink();
      Files.delete(link);
    }
    assertThat(file).hasContent("old");
  }

  @Test
  void whatIsNoFile_isRefused() throws Exception {
    Path pipe = temp.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    for (Path each : new Path[] {pipe, Path.of("/dev/null")}) {
      assertThatThrownBy(() -> WholeFile.of(each.toString()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'" + each + "' is no regular file: give another");
    }
  }
}
