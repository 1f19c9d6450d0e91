package io.holdfast.fs.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link PageToken}. */
final class PageTokenTest {
  @TempDir Path temp;

  private Path file(String content, String mode) throws IOException {
    Path file = Files.writeString(temp.resolve("token"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void read_ignoresWhiteSpaceAtTheEnds() throws Exception {
    PageToken token = PageToken.read(file(" 0123456789abcdef\n", "rw-------"));
    assertThat(token.isIn("Bearer 0123456789abcdef")).isTrue();
    assertThat(token.isIn("Bearer 0123456789abcdeF")).isFalse();
    assertThat(token).hasToString("page token");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rw-rw-rw-"})
  void read_othersMayReadOrWriteIt_isRefused(String mode) throws IOException {
    assertRefused(file("0123456789abcdef", mode), "can be read by others: run 'chmod 600 ");
  }

  @Test
  void read_aShortOne_isRefused() throws IOException {
    assertRefused(file("0123456789abcde\n", "rw-------"), "has 15 characters: write at least 16");
  }

  @Test
  void read_aLongOne_isRefused() throws IOException {
    assertRefused(file("x".repeat(5000), "rw-------"), "is no file of at most 4096 bytes");
  }

  @Test
  void read_noFile_saysHowToMakeOne() {
    assertRefused(temp.resolve("none"), "does not exist: make it with ");
  }

  @Test
  void read_aDirectory_isRefused() {
    assertRefused(temp, "is no file of at most");
  }

  private static void assertRefused(Path file, String message) {
    assertThatThrownBy(() -> PageToken.read(file))
        .isInstanceOf(FsException.class)
        .hasMessageStartingWith("--page-token-file '" + file + "' ")
        .hasMessageContaining(message)
        .message()
        .hasLineCount(1);
  }
}
