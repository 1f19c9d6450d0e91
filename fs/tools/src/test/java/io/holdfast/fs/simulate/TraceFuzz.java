package io.holdfast.fs.simulate;

import io.holdfast.fs.FsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A recorded trace that says anything: it is read, or refused in one line. Run by packaging/fuzz.
 */
public final class TraceFuzz {
  /** So large that no file has many. What there is no memory for is the command's to tell. */
  private static final long ITEM_SIZE = 1L << 50;

  private TraceFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    Path trace = null;
    try {
      trace = Files.createTempFile("trace", "");
      Files.write(trace, bytes);
      Trace read = Trace.ofSizes(trace, ITEM_SIZE);
      if (read.epochs().stream().anyMatch(epoch -> epoch.length == 0)) {
        throw new AssertionError("an empty epoch");
      }
    } catch (IllegalArgumentException | FsException e) {
      if (String.valueOf(e.getMessage()).isBlank()) {
        throw new AssertionError("refused without a word", e);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      delete(trace);
    }
  }

  private static void delete(Path trace) {
    try {
      if (trace != null) {
        Files.deleteIfExists(trace);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
