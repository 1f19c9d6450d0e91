package io.holdfast.fs.debug;

import io.holdfast.fs.settings.Source;
import java.io.IOException;

/**
 * A file of the archive.
 *
 * @param file its name in the archive
 * @param source reads its text
 */
public record Section(String file, Source source) {
  /** Reads a text; may hang. */
  @FunctionalInterface
  public interface Source {
    /**
     * Returns the text.
     *
     * @throws IOException with the reason, if the text cannot be read
     */
    String read() throws IOException, InterruptedException;
  }
}
