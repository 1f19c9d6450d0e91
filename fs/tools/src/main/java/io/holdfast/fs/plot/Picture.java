package io.holdfast.fs.plot;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.internal.chartpart.IChart;

/** One chart, or several one below the other. Not thread-safe, as charts are not. */
public final class Picture {
  private final String title;
  private final String description;
  private final List<IChart> charts;

  /**
   * Creates a picture.
   *
   * @param description the figures in words, for people who cannot see it
   * @param charts at least one, all of the same size
   */
  public Picture(String title, String description, List<? extends IChart> charts) {
    this.title = title;
    this.description = description;
    this.charts = List.copyOf(charts);
  }

  /**
   * Checks that text can be drawn on this machine, which needs fonts even without a screen.
   *
   * @param option names the wish for a picture in the message
   * @throws FsException if it cannot, with the packages that are missing
   */
  public static void requireFonts(String option) throws FsException {
    try {
      new TextLayout(
              "0",
              new Font(Font.SANS_SERIF, Font.PLAIN, 10),
              new FontRenderContext(null, true, true))
          .getBounds();
    } catch (OutOfMemoryError e) {
      throw e;
    } catch (RuntimeException | Error e) {
      // the exception's type depends on what is missing
      throw new FsException(
          FsError.UNAVAILABLE,
          option + " needs fonts: install the packages fontconfig and fonts-dejavu-core",
          e);
    }
  }

  /** Returns the picture as PNG. */
  public byte[] png() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BitmapEncoder.saveBitmap(charts, charts.size(), 1, bytes, BitmapEncoder.BitmapFormat.PNG);
    return bytes.toByteArray();
  }

  /** Returns the picture as an SVG file. Title and description are in it as text. */
  public byte[] svg() throws IOException {
    return SvgPicture.of(parts(), title, description).file();
  }

  /**
   * Returns the picture as an SVG element for a page of HTML. Neither style attributes nor scripts
   * are in it, so that a page may forbid both.
   *
   * @param id begins each id in the element, so that a page can have several pictures
   */
  public String element(String id) throws IOException {
    return SvgPicture.of(parts(), title, description).element(id);
  }

  private List<byte[]> parts() throws IOException {
    List<byte[]> parts = new ArrayList<>();
    for (IChart chart : charts) {
      parts.add(ChartEncoder.getBytes(chart, "svg"));
    }
    return parts;
  }
}
