package io.holdfast.fs.mount.kernel;

import static io.holdfast.fs.Failures.assertFails;

import io.holdfast.fs.FsError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A user who owns a directory above a mountpoint can put a symlink in its place after the
 * mountpoint was checked. Root would mount where the symlink leads, over a directory of the system
 * say.
 */
final class FuseMountTest {
  private static final int NO_CONNECTION = -1;

  @TempDir private Path directory;

  @Test
  void mount_symlinkAboveTheMountpoint_isRefused() throws IOException {
    Path root = directory.toRealPath();
    Files.createDirectories(root.resolve("etc/data"));
    Files.createSymbolicLink(root.resolve("alice"), root.resolve("etc"));
    assertFails(
        () -> FuseMount.mount(NO_CONNECTION, "x", root.resolve("alice/data"), 0, false),
        FsError.SYMLINK);
  }

  @Test
  void mount_symlinkAsTheMountpoint_isRefused() throws IOException {
    Path root = directory.toRealPath();
    Files.createDirectories(root.resolve("etc"));
    Files.createSymbolicLink(root.resolve("data"), root.resolve("etc"));
    assertFails(
        () -> FuseMount.mount(NO_CONNECTION, "x", root.resolve("data"), 0, false), FsError.SYMLINK);
  }
}
