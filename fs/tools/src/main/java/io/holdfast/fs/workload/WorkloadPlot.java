package io.holdfast.fs.workload;

import io.holdfast.fs.plot.ChartStyle;
import io.holdfast.fs.plot.Picture;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries.XYSeriesRenderStyle;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * A picture of outcomes, with a line for each policy: which part of the jobs has ended after which
 * time, and what all jobs read together over time. Immutable.
 */
public final class WorkloadPlot {
  private static final double MEGABYTE = 1e6;

  private final List<Outcome> outcomes;
  private final Unit unit;

  /** A unit of time that gives numbers that can be read. */
  private record Unit(String name, double seconds) {
    static Unit of(double longest) {
      return longest < 600
          ? new Unit("s", 1)
          : longest < 36_000
              ? new Unit("min", 60)
              : longest < 864_000 ? new Unit("h", 3600) : new Unit("days", 86_400);
    }
  }

  /** Creates a picture of at least one outcome. */
  public WorkloadPlot(List<Outcome> outcomes) {
    this.outcomes = List.copyOf(outcomes);
    this.unit = Unit.of(outcomes.stream().mapToDouble(Outcome::makespan).max().orElse(0));
  }

  /** Returns the picture, with its figures as text for people who cannot see it. */
  public Picture picture() {
    return new Picture("Jobs by policy", description(), List.of(completions(), speeds()));
  }

  private String description() {
    return outcomes.stream()
        .map(
            each ->
                String.format(
                    Locale.ROOT,
                    "%s: mean completion time %.0f s, makespan %.0f s, %.1f MB/s",
                    each.policy(),
                    each.meanCompletion(),
                    each.makespan(),
                    each.throughput() / MEGABYTE))
        .collect(Collectors.joining("; "));
  }

  private XYChart completions() {
    XYChart chart = chart("Completion times", "time from arrival to end", "jobs, %");
    chart.getStyler().setYAxisMax(100.0);
    for (Outcome outcome : outcomes) {
      int jobs = outcome.jobs().size();
      double[] times = new double[jobs + 1];
      double[] parts = new double[jobs + 1];
      for (int i = 0; i < jobs; i++) {
        times[i + 1] = outcome.jobs().get(i).completion() / unit.seconds();
      }
      Arrays.sort(times);
      Arrays.setAll(parts, i -> 100.0 * i / jobs);
      add(chart, outcome.policy(), times, parts);
    }
    return chart;
  }

  private XYChart speeds() {
    XYChart chart = chart("Speed of all jobs", "time", "MB/s");
    for (Outcome outcome : outcomes) {
      List<Outcome.Speed> speeds = outcome.speeds();
      add(
          chart,
          outcome.policy(),
          speeds.stream().mapToDouble(each -> each.seconds() / unit.seconds()).toArray(),
          speeds.stream().mapToDouble(each -> each.bytesPerSecond() / MEGABYTE).toArray());
    }
    return chart;
  }

  private XYChart chart(String title, String time, String figure) {
    XYChart chart =
        new XYChartBuilder()
            .width(ChartStyle.WIDTH)
            .height(ChartStyle.HEIGHT)
            .title(title)
            .xAxisTitle(time + ", " + unit.name())
            .yAxisTitle(figure)
            .build();
    chart.getStyler().setXAxisMin(0.0).setYAxisMin(0.0);
    chart.getStyler().setDefaultSeriesRenderStyle(XYSeriesRenderStyle.Step);
    ChartStyle.apply(chart.getStyler());
    return chart;
  }

  private static void add(XYChart chart, String policy, double[] x, double[] y) {
    chart.addSeries(policy, x, y).setMarker(SeriesMarkers.NONE);
  }
}
