package io.holdfast.fs.plot;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;

/** The file of a picture: PNG or SVG, by its extension. Immutable. */
public final class PlotFile {
  private final Path file;
  private final boolean svg;

  private PlotFile(Path file, boolean svg) {
    this.file = file;
    this.svg = svg;
  }

  /**
   * Names a file, and checks that it can be written, as {@link WholeFile#of} does.
   *
   * @throws IllegalArgumentException if it cannot
   */
  public static PlotFile of(String text) {
    String name = text.toLowerCase(Locale.ROOT);
    boolean svg = name.endsWith(".svg");
    if (!svg && !name.endsWith(".png")) {
      throw new IllegalArgumentException(
          "'" + text + "' is no picture's name: end it with .png or .svg");
    }
    return new PlotFile(WholeFile.of(text).path(), svg);
  }

  /**
   * Writes a picture. An existing file is replaced as a whole, or stays as it is.
   *
   * @throws FsException if it cannot be written
   */
  public void write(Picture picture) throws FsException {
    try {
      new WholeFile(file).write(svg ? picture.svg() : picture.png());
    } catch (IOException e) {
      throw new FsException(
          FsError.IO, "the plot '" + file + "' cannot be written: " + e.getMessage(), e);
    }
  }
}
