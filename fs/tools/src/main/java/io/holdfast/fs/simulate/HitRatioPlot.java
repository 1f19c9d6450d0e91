package io.holdfast.fs.simulate;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A picture of hit ratios over the capacity, with a line for each policy. Immutable. */
public final class HitRatioPlot {
  private static final int WIDTH = 800;
  private static final int HEIGHT = 500;

  /** Colours that people who do not see red and green can tell apart (Okabe and Ito, 2008). */
  private static final Color[] COLORS = {
    new Color(0x0072b2),
    new Color(0xd55e00),
    new Color(0x009e73),
    new Color(0xcc79a7),
    new Color(0xe69f00),
    new Color(0x56b4e9),
    new Color(0x000000),
    new Color(0x999999)
  };

  private final String title;
  private final List<Experiment.Curve> curves;

  /** Creates a picture of at least one curve. */
  public HitRatioPlot(String title, List<Experiment.Curve> curves) {
    this.title = title;
    this.curves = List.copyOf(curves);
  }

  /**
   * Checks that text can be drawn on this machine, which needs fonts even without a screen.
   *
   * @throws FsException if it cannot, with the packages that are missing
   */
  public static void requireFonts() throws FsException {
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
          "--plot needs fonts: install the packages fontconfig and fonts-dejavu-core",
          e);
    }
  }

  /** Returns the picture as PNG. */
  public byte[] png() throws IOException {
    return ChartEncoder.getBytes(chart(), "png");
  }

  /**
   * Returns the picture as SVG, with its figures in the description for people who cannot see it.
   */
  public byte[] svg() throws IOException {
    return SvgText.add(ChartEncoder.getBytes(chart(), "svg"), title, description());
  }

  private String description() {
    return "Hit ratio over capacity. "
        + curves.stream()
            .map(curve -> curve.policy() + ": " + points(curve))
            .collect(Collectors.joining("; "));
  }

  private static String points(Experiment.Curve curve) {
    return curve.points().stream()
        .map(
            point ->
                String.format(Locale.ROOT, "%.0f%% %.3f", 100 * point.share(), point.hitRatio()))
        .collect(Collectors.joining(", "));
  }

  private XYChart chart() {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("capacity, % of the dataset")
            .yAxisTitle("hit ratio of later epochs")
            .build();
    Styler styler =
        chart
            .getStyler()
            .setXAxisMin(0.0)
            .setXAxisMax(100.0)
            .setYAxisMin(0.0)
            .setYAxisMax(1.0)
            .setXAxisDecimalPattern("0")
            .setYAxisDecimalPattern("0.0")
            .setPlotGridLinesColor(new Color(0xe5e5e5))
            .setPlotGridLinesStroke(new BasicStroke(1))
            .setChartBackgroundColor(Color.WHITE)
            .setSeriesColors(COLORS);
    styler.setLegendPosition(Styler.LegendPosition.OutsideE).setPlotBorderVisible(false);
    for (Experiment.Curve curve : curves) {
      chart
          .addSeries(
              curve.policy(),
              curve.points().stream().mapToDouble(point -> 100 * point.share()).toArray(),
              curve.points().stream().mapToDouble(Experiment.Point::hitRatio).toArray())
          .setMarker(SeriesMarkers.CIRCLE);
    }
    return chart;
  }
}
