package io.holdfast.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.assertj.core.api.Condition;

/** Compares files with bytes, as fast as the memory is: AssertJ compares byte by byte. */
final class Content {
  private Content() {}

  /** Returns the condition that a file has these bytes and no others. */
  static Condition<Path> content(byte[] bytes) {
    return new Condition<>() {
      @Override
      public boolean matches(Path file) {
        byte[] actual = read(file);
        int at = Arrays.mismatch(actual, bytes);
        describedAs(
            "%d bytes, which differ from its %d bytes at %d", bytes.length, actual.length, at);
        return at < 0;
      }
    };
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
