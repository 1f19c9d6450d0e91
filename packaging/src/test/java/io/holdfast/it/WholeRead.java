package io.holdfast.it;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The result of one pass over a stamped file, from its start to its end. Needs nothing but the JDK.
 */
record WholeRead(long length, Stamps.Finding finding) {

  /**
   * Reads a file through one descriptor, a buffer at a time, and checks that all is of one version.
   */
  static WholeRead of(Path path, long file, byte[] buffer) throws IOException {
    if (buffer.length % Stamps.RECORD != 0) {
      throw new IllegalArgumentException("buffer of " + buffer.length + " bytes");
    }
    try (InputStream in = Files.newInputStream(path)) {
      long length = 0;
      Stamps.Finding all = new Stamps.Finding(-1, "");
      int n;
      do {
        n = in.readNBytes(buffer, 0, buffer.length);
        Stamps.Finding part = Stamps.check(file, length, buffer, n);
        all = join(all, part, length);
        length += n;
      } while (n == buffer.length && all.isWhole());
      return new WholeRead(length, all);
    }
  }

  private static Stamps.Finding join(Stamps.Finding all, Stamps.Finding part, long offset) {
    if (all.version() == -1 || !part.isWhole() || part.version() == -1) {
      return part.version() == -1 ? all : part;
    }
    if (all.version() != part.version()) {
      return new Stamps.Finding(
          all.version(),
          "version %d from %d on, version %d before"
              .formatted(part.version(), offset, all.version()));
    }
    return all;
  }
}
