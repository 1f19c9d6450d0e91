package io.holdfast.fs.simulate;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.UUID;

/** The file of a plot: PNG or SVG, by its extension. Immutable. */
public final class PlotFile {
  private final Path file;
  private final boolean svg;

  private PlotFile(Path file, boolean svg) {
    this.file = file;
    this.svg = svg;
  }

  /**
   * Names a file, and checks that it can be written. Writes nothing.
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
    Path file = Path.of(text).toAbsolutePath();
    Path folder = file.resolveSibling("");
    if (!Files.isDirectory(folder)) {
      throw new IllegalArgumentException(
          "'" + text + "' is in a folder that does not exist: make it first, or choose another");
    }
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("'" + text + "' is a directory: give a file");
    }
    if (!Files.isWritable(folder) || (Files.exists(file) && !Files.isWritable(file))) {
      throw new IllegalArgumentException(
          "'" + text + "' cannot be written: choose another place, or check the permissions");
    }
    return new PlotFile(file, svg);
  }

  /**
   * Writes a plot. An existing file is replaced as a whole, or stays as it is.
   *
   * @throws FsException if it cannot be written
   */
  public void write(HitRatioPlot plot) throws FsException {
    try {
      byte[] bytes = svg ? plot.svg() : plot.png();
      Path temporary = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID());
      try {
        Files.write(temporary, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(temporary);
      }
    } catch (IOException e) {
      throw new FsException(
          FsError.IO, "the plot '" + file + "' cannot be written: " + e.getMessage(), e);
    }
  }
}
