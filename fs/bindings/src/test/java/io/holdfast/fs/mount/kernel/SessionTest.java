package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SessionTest {
  @TempDir private Path directory;

  @Test
  void session_writtenAndRead_isTheSame() throws FsException {
    Path file = directory.resolve("session");
    assertThat(Session.read(file)).isEmpty();
    Session session =
        new Session(new MountId("0:54", 71), new Negotiation(45, 131_072, 0x480_4264_6001L));
    session.write(file);
    assertThat(Session.read(file)).contains(session);
  }

  /** The file as it is: who changes it must change its format's number, too. */
  @Test
  void file_ofThisFormat_isRead() throws IOException {
    Path file = directory.resolve("session");
    Files.writeString(
        file, "format=4\ndevice=0:40\nmount=66\nminor=31\nreadahead=131072\nflags=4948916199425\n");
    assertThat(Session.read(file))
        .contains(
            new Session(new MountId("0:40", 66), new Negotiation(31, 131_072, 4_948_916_199_425L)));
  }

  @Test
  void file_ofAnotherFormat_isRefused() throws IOException {
    Path file = directory.resolve("session");
    Files.writeString(file, "format=1\n");
    assertFails(() -> Session.read(file), FsError.UNSUPPORTED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "format=one\n", "format=4\nminor=x\n", "nonsense"})
  void file_damaged_isAnError(String text) throws IOException {
    Path file = directory.resolve("session");
    Files.writeString(file, text);
    assertFails(() -> Session.read(file), FsError.IO);
  }
}
