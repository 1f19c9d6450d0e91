package io.holdfast.fs;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Removes the jar that Lincheck leaves in the temporary folder. Removes only the jar that this
 * process has open, because other processes may run at the same time.
 */
public final class LincheckJar implements AfterAllCallback {
  /** Not the library's own jars, which are open as well, elsewhere. */
  private static final Path TEMPORARY = Path.of(System.getProperty("java.io.tmpdir"));

  @Override
  public void afterAll(ExtensionContext context) throws IOException {
    try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open) {
        remove(descriptor);
      }
    }
  }

  private static void remove(Path descriptor) throws IOException {
    try {
      Path file = Files.readSymbolicLink(descriptor);
      if (TEMPORARY.equals(file.getParent())
          && file.getFileName().toString().startsWith("lincheck-bootstrap")) {
        Files.deleteIfExists(file);
      }
    } catch (NoSuchFileException e) {
      // closed meanwhile
    }
  }
}
