package io.holdfast.fs.simulate;

import io.holdfast.fs.plot.ChartStyle;
import io.holdfast.fs.plot.Picture;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A picture of hit ratios over the capacity, with a line for each policy. Immutable. */
public final class HitRatioPlot {
  private final String title;
  private final List<Experiment.Curve> curves;

  /** Creates a picture of at least one curve. */
  public HitRatioPlot(String title, List<Experiment.Curve> curves) {
    this.title = title;
    this.curves = List.copyOf(curves);
  }

  /** Returns the picture, with its figures as text for people who cannot see it. */
  public Picture picture() {
    return new Picture(title, description(), List.of(chart()));
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
    XYChart chart = ChartStyle.overCapacity(title, "hit ratio of later epochs");
    chart.getStyler().setYAxisMax(1.0).setYAxisDecimalPattern("0.0");
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
